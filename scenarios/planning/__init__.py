"""What a run will take and whether it can be run, found out before anything is paid.

Read ``dry_run`` (a rehearsal by rule-based scientists), ``model_rates`` (how a model differs from
them), ``calibration`` (rates from real calls), ``plan`` (calls, tokens, money, time) and
``lookahead`` (a bound on the time). ``prompt_pages`` writes every prompt to be read, with its
tokens by ``tokenizer``. ``doctor`` checks ``installation`` and, by ``probe`` and
``context_check``, the model.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.planning.calibration import RecordedRun as RecordedRun
    from scenarios.planning.calibration import learn_rates as learn_rates
    from scenarios.planning.model_rates import ModelRates as ModelRates
    from scenarios.planning.plan import Plan as Plan
    from scenarios.planning.plan import rates_for as rates_for

__all__ = ["ModelRates", "Plan", "RecordedRun", "learn_rates", "rates_for"]

__getattr__ = lazy_exports(
    __name__,
    {
        "ModelRates": "scenarios.planning.model_rates",
        "Plan": "scenarios.planning.plan",
        "RecordedRun": "scenarios.planning.calibration",
        "learn_rates": "scenarios.planning.calibration",
        "rates_for": "scenarios.planning.plan",
    },
)
