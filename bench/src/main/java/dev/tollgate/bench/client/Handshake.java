package dev.tollgate.bench.client;

/** The answer to a WebSocket handshake. */
public sealed interface Handshake {
  /**
   * The socket is open.
   *
   * @param socket the socket; the caller closes it
   */
  record Admitted(Socket socket) implements Handshake {}

  /**
   * The deployment refused the connection.
   *
   * @param status the HTTP status, such as 429
   */
  record Refused(int status) implements Handshake {}

  /**
   * There was no HTTP response.
   *
   * @param reason the reason, for a person
   */
  record Unanswered(String reason) implements Handshake {}

  /** The result in one word: {@code admitted}, the status, or {@code unanswered}. */
  default String word() {
    if (this instanceof Refused refused) {
      return String.valueOf(refused.status());
    }
    return this instanceof Admitted ? "admitted" : "unanswered";
  }

  /** Closes the socket if there is one. */
  default void close() throws InterruptedException {
    if (this instanceof Admitted admitted) {
      admitted.socket().close();
    }
  }
}
