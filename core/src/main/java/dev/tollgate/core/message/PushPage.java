package dev.tollgate.core.message;

import java.util.Optional;

/**
 * A page of the sessions to which a push is sent.
 *
 * @param push what is sent
 * @param after the reference of the last session of the page before; empty for the first page. An
 *     id would be a secret in the queue
 */
public record PushPage(Push push, Optional<String> after) {}
