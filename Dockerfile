# The server in a container: docker build -t plyground . && docker run -p 8080:8080 -v plyground:/data plyground
FROM python:3.12-slim

# The processor that the house's searches are compiled for: x86-64-v3 is any of the last ten years.
# On ARM: docker build --build-arg CPU=generic
ARG CPU=x86-64-v3

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CPU_NAME=${CPU} \
    NUMBA_CPU_FEATURES="" \
    PLYGROUND_HOST=0.0.0.0 \
    PLYGROUND_PORT=8080 \
    PLYGROUND_DATA_DIR=/data \
    PLYGROUND_CACHE_DIR=/app/.cache

RUN useradd --system --uid 10001 --user-group --no-create-home plyground \
    && install -d -o plyground -g plyground /data

WORKDIR /app

# Dependencies first: they change less often than the source. The packages need to exist to be installed.
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN mkdir games agents server migrations \
    && touch games/__init__.py agents/__init__.py server/__init__.py migrations/__init__.py \
    && pip install --no-cache-dir --disable-pip-version-check -c constraints.txt -e .

COPY games games
COPY agents agents
COPY server server
COPY migrations migrations
COPY examples examples
# Everything is compiled now: the root file system is read-only later.
RUN python -m compileall -q games agents server migrations \
    && plyground warm

# By number, so that it can be seen from outside that this is not root.
USER 10001
VOLUME /data
EXPOSE 8080

HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ['PLYGROUND_PORT']}/healthz\", timeout=2)"]

# The server itself is process 1 and stops on SIGTERM and SIGINT.
ENTRYPOINT ["plyground"]
CMD ["serve"]
