package dev.tollgate.core.message;

import java.util.List;

/** What an application does with its tenants' messages. */
@FunctionalInterface
public interface Application {
  /**
   * Handles a message. Those of a session come one at a time and in order, those of different
   * sessions at once.
   *
   * @param json the JSON text that was sent
   * @return what is sent to every socket of the session, in this order, each a JSON text
   * @throws Exception if the message could not be handled: it comes again
   */
  List<String> handle(IncomingMessage message, String json) throws Exception;
}
