package dev.tollgate.socket;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The network. Stages never complete exceptionally; events may come on any thread. */
interface Transport {
  /** Sends a request without a body, and gives up after 30 s. */
  CompletionStage<Exchange> call(String method, URI uri, Map<String, String> headers);

  /** Begins a handshake, and gives up after 30 s. */
  CompletionStage<Handshake> open(URI uri, Events events);

  /** The end of a request. */
  sealed interface Exchange {
    /**
     * An answer.
     *
     * @param retryAfter the time in {@code Retry-After}, if it is a number of seconds
     */
    record Answer(int status, Optional<Duration> retryAfter, String body) implements Exchange {}

    /** Nobody answered, or not in time. */
    record Failed(String detail) implements Exchange {}
  }

  /** The end of a handshake. */
  sealed interface Handshake {
    /** The connection is open. */
    record Admitted(Connection connection) implements Handshake {}

    /** The answer was another status than 101. */
    record Refused(int status) implements Handshake {}

    /** Nobody answered, or not in time. */
    record Failed(String detail) implements Handshake {}
  }

  /** An open connection. */
  interface Connection {
    /** Begins to deliver events. */
    void start();

    /** Sends a text, in several frames if it is long; whether it could be sent. */
    CompletionStage<Boolean> send(String text);

    /** Closes the connection with 1000; whether that could be sent. */
    CompletionStage<Boolean> close();

    /** Drops the connection. No event follows. */
    void abort();
  }

  /** What comes from a connection. */
  interface Events {
    /** A text arrived. */
    void text(String text);

    /** The connection is closed; 1006 if there was no close frame. */
    void closed(int code, String reason);
  }
}
