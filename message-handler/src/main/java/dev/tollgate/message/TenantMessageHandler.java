package dev.tollgate.message;

import java.util.List;

/**
 * What an application does with its tenants' messages: the one interface that it implements, in a
 * class with a public constructor without parameters, which makes one instance for all messages.
 *
 * <p>The messages of a session come one at a time, in the order in which they were sent; those of
 * different sessions may come at once. A message that was handled does not come again if its client
 * sends it again under its id within five minutes. A message comes again after a failure, and may
 * come again after a crash.
 */
@FunctionalInterface
public interface TenantMessageHandler {
  /**
   * Handles a message.
   *
   * @return what is sent to every socket of the session, in this order, each a JSON text; may be
   *     empty. A socket that cannot be reached misses it, and the message counts as handled.
   * @throws Exception if the message could not be handled: it comes again, and all later ones of
   *     its session after it; after some attempts it goes to the dead letters. One that takes
   *     longer than the function may run counts as not handled.
   */
  List<String> handle(TenantMessage message) throws Exception;
}
