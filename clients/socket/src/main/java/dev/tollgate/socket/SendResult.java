package dev.tollgate.socket;

import java.time.Duration;

/** What became of a message. */
public sealed interface SendResult {
  /** The message's id. */
  String id();

  /**
   * The message is in the queue, and will be processed. If the server refuses it for the tenant's
   * rate after that, the socket sends it again by itself, unless the session has ended by then.
   */
  record Accepted(String id) implements SendResult {}

  /**
   * The application on the server answered.
   *
   * @param json the answer, byte for byte
   */
  record Replied(String id, String json) implements SendResult {}

  /**
   * The tenant was over its rate until the time limit of the message. It was not processed.
   *
   * @param retryAfter when a message would be processed, as the server told last
   */
  record Throttled(String id, Duration retryAfter) implements SendResult {}

  /**
   * The message was not processed, and sending it again does not help.
   *
   * @param code {@code BAD_FRAME}, {@code NOT_SILO} or {@code SUSPENDED}
   * @param detail the reason in words
   */
  record Refused(String id, String code, String detail) implements SendResult {}

  /**
   * The message was sent, and there was no answer in time. It may have been processed.
   *
   * @param accepted whether the message was in the queue
   */
  record Unanswered(String id, boolean accepted) implements SendResult {}

  /** The message was not processed, because no socket took it. */
  record NotSent(String id, Cause cause) implements SendResult {
    /** Why a message was not sent. */
    public enum Cause {
      /** As many messages wait as the socket may hold. */
      QUEUE_FULL,
      /** The frame would have more than 128 KB. */
      TOO_BIG,
      /** No socket was open until the time limit. */
      TIMED_OUT,
      /** The socket is closed. */
      CLOSED
    }
  }
}
