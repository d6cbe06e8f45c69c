// Pages without a live connection: only their times are kept.

import { keepTimes } from "./clock.js";

keepTimes();
