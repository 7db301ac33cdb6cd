package dev.tollgate.e2e.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The JavaScript client in a Node process. */
final class NodeClient implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path MODULE = Path.of("../clients/js/tollgate.js");
  private static final Path SCRIPT = Path.of("src/test/js/client.mjs");
  private static final long TIMEOUT_SECONDS = 75;

  private final Process process;
  private final LinkedBlockingQueue<JsonNode> arriving = new LinkedBlockingQueue<>();
  private final List<JsonNode> events = new ArrayList<>();

  /** Starts a client with the options that JavaScript's {@code connect} takes. */
  NodeClient(Map<String, Object> options) throws IOException {
    process =
        new ProcessBuilder(
                "node",
                "--no-warnings",
                "--experimental-websocket",
                SCRIPT.toString(),
                MODULE.toAbsolutePath().toString(),
                JSON.writeValueAsString(options))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    Thread reader = new Thread(this::read, "node");
    reader.setDaemon(true);
    reader.start();
  }

  private void read() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        arriving.add(JSON.readTree(line));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the next event that is as expected. */
  JsonNode await(String what, Predicate<JsonNode> expected) throws InterruptedException {
    while (true) {
      JsonNode event = arriving.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      if (event == null) {
        throw new AssertionError(what + ": not among " + events);
      }
      events.add(event);
      if (expected.test(event)) {
        return event;
      }
    }
  }

  /** Waits until the client enters a state. */
  void awaitState(String state) throws InterruptedException {
    await(state, event -> isOf(event, "state") && state.equals(event.path("state").asText()));
  }

  JsonNode await(String type) throws InterruptedException {
    return await(type, event -> isOf(event, type));
  }

  private static boolean isOf(JsonNode event, String type) {
    return event.path("type").asText().equals(type);
  }

  /** The states that the client has entered, as far as the test has waited. */
  List<String> states() {
    return events.stream()
        .filter(event -> isOf(event, "state"))
        .map(event -> event.path("state").asText())
        .toList();
  }

  /** Sends a message. */
  void send(String id, String message, boolean reply) throws IOException {
    process
        .outputWriter(StandardCharsets.UTF_8)
        .append(JSON.writeValueAsString(Map.of("id", id, "message", message, "reply", reply)))
        .append('\n')
        .flush();
  }

  /** Ends the session and the process. */
  @Override
  public void close() throws IOException {
    process.outputWriter(StandardCharsets.UTF_8).close();
    process.onExit().orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
  }
}
