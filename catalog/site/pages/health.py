"""Health of the service: its state, what needs attention, and what each state means."""

from datetime import UTC, datetime
from typing import Any

from datasette import Response

from catalog.database import stored_health
from catalog.reading import disk_paths, health_states, health_summary, status
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext
from catalog.site.rendering import markdown


async def page(context: RequestContext) -> Response:
    """Show the health of the service, without paths of the disk above the roots."""
    catalog = context.location.catalog
    state, roots, counts, folders = await context.query(_load, catalog)
    folders.append(str(catalog.absolute().parent))
    summary = health_summary.health(state, datetime.now(UTC))

    def shown(text: str) -> str:
        return disk_paths.shortened(text, folders)

    return context.page(
        "health.html",
        tone=summary.tone,
        sentence=shown(summary.sentence),
        details=[shown(detail) for detail in summary.details],
        state=state["health"],
        held=sum(row["skills"] for row in state["held"]),
        to_review=state["to_review"],
        conflicts=state["name_conflicts"],
        counts=counts,
        roots=[
            row | {"path": shown(row["path"]), "trouble": row["trouble"] and shown(row["trouble"])}
            for row in roots
        ],
        subjects={title: markdown.render(text) for title, text in health_states.subjects().items()},
    )


def _load(db: Catalog, catalog: Any) -> tuple[dict[str, Any], list[dict[str, Any]], Any, list[str]]:
    return (
        stored_health.load(db, catalog),
        list(db.query(status.LISTS["roots"])),
        status.counts(db),
        disk_paths.folders(db),
    )
