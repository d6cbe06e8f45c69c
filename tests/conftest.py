"""Property tests assert no times: a loaded machine must not fail them. Ctrl-C works in every child."""

import signal

import hypothesis

# A run started in the background ignores SIGINT, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile(
    "plyground", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("plyground")
