"""Invoices: in the night, those of the day before are uploaded to the archive."""

from datetime import timedelta

from handlers.archive import Busy, archive, billing
from surehand import Job, Retry, Tick, cron, schedule


# Ten minutes would do as well: with ten seconds a local run shows how a run goes on in a further invocation.
@schedule("invoice-export", cron("0 2 * * ? *", timezone="Europe/Berlin"), timeout=timedelta(seconds=10))
def export_invoices(tick: Tick, job: Job) -> None:
    """Upload every invoice of the day before, moving the cursor behind each page."""
    day = tick.at.date() - timedelta(days=1)
    last = job.cursor(str)
    try:
        while page := billing().page(day, after=last):
            last = page.last
            archive().upload(day, page, idempotency_key=job.key(last))
            job.save_cursor(last)  # near the deadline this leaves, and the next invocation goes on from here
    except Busy as error:
        raise Retry("provider.busy", after=error.retry_after) from error
