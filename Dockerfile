# The server in a container: docker build -t plyground . && docker run -p 8080:8080 -v plyground:/data plyground
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 \
    PLYGROUND_HOST=0.0.0.0 \
    PLYGROUND_PORT=8080 \
    PLYGROUND_DATA_DIR=/data

RUN useradd --system --uid 10001 --create-home plyground \
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
RUN python -m compileall -q games agents server migrations

USER plyground
VOLUME /data
EXPOSE 8080

HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ['PLYGROUND_PORT']}/healthz\", timeout=2)"]

# The server itself is process 1 and stops on SIGTERM and SIGINT.
ENTRYPOINT ["plyground"]
CMD ["serve"]
