"""Property tests assert no times: a loaded machine must not fail them."""

import hypothesis

hypothesis.settings.register_profile(
    "plyground", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("plyground")
