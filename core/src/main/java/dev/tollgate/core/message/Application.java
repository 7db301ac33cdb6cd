package dev.tollgate.core.message;

import java.util.List;

/** The message handler of an application. */
@FunctionalInterface
public interface Application {
  /**
   * Handles a message. Messages of one session come one at a time and in order; messages of
   * different sessions come concurrently.
   *
   * @param json the JSON text that was sent
   * @return what is sent to every socket of the session, in this order, each a JSON text
   * @throws Exception if the message could not be handled; the queue delivers it again
   */
  List<String> handle(IncomingMessage message, String json) throws Exception;
}
