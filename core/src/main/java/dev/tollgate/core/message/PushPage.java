package dev.tollgate.core.message;

import java.util.Optional;

/**
 * A page of the sessions to which a push is sent.
 *
 * @param push what is sent
 * @param after where the page before ended; empty for the first page
 */
public record PushPage(Push push, Optional<String> after) {}
