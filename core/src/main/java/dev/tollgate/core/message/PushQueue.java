package dev.tollgate.core.message;

import dev.tollgate.core.Unavailable;

/**
 * Keeps pages of sessions until they are pushed to. It delivers the pages of a tenant one at a
 * time, in the order in which they were sent, each at least once.
 */
@FunctionalInterface
public interface PushQueue {
  /**
   * Adds a page, unless a page with the same key was added within five minutes.
   *
   * @throws Unavailable if the page may not have been added
   */
  void send(PushPage page);
}
