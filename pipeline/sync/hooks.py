"""Delivery to the hooks, once, for a command that ends."""

from catalog.model.errors import HookFailed
from catalog.writing.store import Store
from pipeline.config.settings import Settings


def deliver_all(settings: Settings, store: Store) -> list[str]:
    """Deliver all new events to each hook; return the failures, whose events stay undelivered."""
    if not settings.hooks:
        return []
    from pipeline.hooks.payload import delivery_id, payload, pending  # most catalogs have no hooks

    failures = []
    for hook in settings.hooks:
        try:
            while events := pending(hook, store.events):
                if body := payload(hook, events):
                    hook.send(body, delivery_id(events))
                store.events.delivered(hook.listener, events)
        except HookFailed as error:
            failures.append(str(error))
    return failures
