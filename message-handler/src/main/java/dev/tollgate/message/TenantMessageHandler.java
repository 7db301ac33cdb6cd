package dev.tollgate.message;

import java.util.List;

/**
 * Handles the messages of an application's tenants. An application implements this interface in a
 * class with a public constructor without parameters. One instance handles all messages of a
 * function.
 *
 * <p>The messages of a session arrive one at a time, in the order in which they were sent. Messages
 * of different sessions may arrive concurrently. A handled message does not arrive again if its
 * client repeats it with the same id within five minutes. A message arrives again after a failure,
 * and may arrive again after a crash.
 */
@FunctionalInterface
public interface TenantMessageHandler {
  /**
   * Handles a message.
   *
   * @return the replies to every socket of the session, in this order, each a JSON text; may be
   *     empty. A socket that cannot be reached misses the replies; the message still counts as
   *     handled.
   * @throws Exception if the message could not be handled. The message arrives again, followed by
   *     the later ones of its session. After several attempts it moves to the dead-letter queue. A
   *     message that takes longer than the function may run counts as not handled.
   */
  List<String> handle(TenantMessage message) throws Exception;
}
