"""`python -m tests.chaos --minutes 10 --seed 1`: a storm and its judgement.

Exit code 1 if a promise is broken.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.chaos.report import report
from tests.chaos.storm import Plan, Storm, seed_of


def main() -> int:
    """Run one storm."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos", description="Let a storm rage, and judge what it left."
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="how long it rages (default 10)")
    parser.add_argument("--seed", help="of what is drawn; another one each time by default")
    parser.add_argument("--keep", action="store_true", help="keep the data also if every promise was kept")
    parser.add_argument("--again", type=Path, metavar="FOLDER", help="only judge what another storm has left")
    chosen = parser.parse_args()
    plan = Plan(seed_of(chosen.seed), chosen.minutes * 60)
    folder = chosen.again or Path(tempfile.mkdtemp(prefix="plyground-chaos-"))
    storm = Storm(folder, plan, _tell)
    if chosen.again is None:
        _tell(f"seed {plan.seed}, {chosen.minutes:g} minutes, in {folder}")
    verdict = storm.judge() if chosen.again else storm.run()
    for line in report(verdict, folder):
        _tell(line)
    broken = bool(verdict.findings or verdict.doctor)
    if not (broken or chosen.keep or chosen.again):
        shutil.rmtree(folder)
    return 1 if broken else 0


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
