package dev.tollgate.e2e.acceptance;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The frames that a socket has received, in their order. A frame that breaks the contract fails the
 * test that reads the frames.
 */
public final class ReceivedFrames implements WebSocket.Listener {
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(2_000)
                      .maxNumberLength(Integer.MAX_VALUE)
                      .build())
              .build());

  /** Long enough for a loaded machine. A wait ends as soon as the frames are there. */
  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  private final CompletableFuture<Integer> closed = new CompletableFuture<>();
  private final StringBuilder part = new StringBuilder();
  private final List<String> received = new ArrayList<>();
  private final Map<String, List<JsonNode>> byType = new HashMap<>();
  private final Map<String, Boolean> sentAsDocumented = new HashMap<>();
  private final List<AssertionError> mismatches = new ArrayList<>();

  /** The code with which the server closes the socket, once it does. */
  public CompletableFuture<Integer> closed() {
    return closed;
  }

  /** Records a frame that the client sends. */
  public synchronized void sent(String message) {
    sentAsDocumented.merge(id(message), Contracts.SOCKETS.takes(message), Boolean::logicalOr);
  }

  private static String id(String frame) {
    try {
      return JSON.readTree(frame).path("id").asText();
    } catch (JsonProcessingException malformed) {
      return "";
    }
  }

  /** Checks that a frame matches the contract, and so does the client's frame that it answers. */
  private void check(String text, JsonNode frame) {
    try {
      Contracts.SOCKETS.checkReceived(text);
      boolean processed = frame.path("type").asText().equals("reply");
      if (processed && !sentAsDocumented.getOrDefault(frame.path("id").asText(), true)) {
        throw new AssertionError("a reply to a frame that breaks the contract: " + text);
      }
    } catch (AssertionError mismatch) {
      mismatches.add(mismatch);
    }
  }

  private void failOnMismatch() {
    if (!mismatches.isEmpty()) {
      throw mismatches.get(0);
    }
  }

  /** The texts of all frames so far, in the order of arrival. */
  public synchronized List<String> texts() {
    failOnMismatch();
    return List.copyOf(received);
  }

  /** The texts of all frames, as soon as this many have arrived. */
  public synchronized List<String> awaitTexts(int count) throws InterruptedException {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (received.size() < count) {
      long left = (deadline - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        throw new AssertionError(received.size() + " frames (expected: " + count + ")");
      }
      wait(left);
    }
    return texts();
  }

  /** The frames of a type so far. */
  public synchronized List<JsonNode> of(String type) {
    failOnMismatch();
    return List.copyOf(byType.getOrDefault(type, List.of()));
  }

  /** The frames of a type, as soon as this many have arrived. */
  public synchronized List<JsonNode> await(String type, int count) throws InterruptedException {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (byType.getOrDefault(type, List.of()).size() < count) {
      failOnMismatch();
      long left = (deadline - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        throw new AssertionError(
            "%d frames of type %s (expected: %d); errors: %s; the last of all: %s"
                .formatted(
                    of(type).size(),
                    type,
                    count,
                    of("error"),
                    received.subList(Math.max(0, received.size() - 3), received.size())));
      }
      wait(left);
    }
    return of(type);
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
    part.append(data);
    if (last) {
      String text = part.toString();
      JsonNode frame = parse(text);
      synchronized (this) {
        check(text, frame);
        received.add(text);
        byType.computeIfAbsent(frame.path("type").asText(), type -> new ArrayList<>()).add(frame);
        notifyAll();
      }
      part.setLength(0);
    }
    socket.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
    try {
      Contracts.SOCKETS.checkClosed(code);
      closed.complete(code);
    } catch (AssertionError mismatch) {
      closed.completeExceptionally(mismatch);
    }
    return null;
  }

  @Override
  public void onError(WebSocket socket, Throwable error) {
    closed.completeExceptionally(error);
  }

  private static JsonNode parse(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new AssertionError(text, e);
    }
  }
}
