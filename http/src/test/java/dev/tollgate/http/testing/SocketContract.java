package dev.tollgate.http.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.SpecVersion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Checks frames of sockets, statuses of handshakes and close codes against an AsyncAPI 3.0 document
 * with one channel.
 */
public final class SocketContract {
  private final Specification specification;
  private final JsonNode channel;
  private final Set<String> seen = new ConcurrentSkipListSet<>();

  private SocketContract(Specification specification) {
    this.specification = specification;
    this.channel = specification.root().path("channels").elements().next();
  }

  /** The contract in a file. */
  public static SocketContract of(Path file) {
    return new SocketContract(Specification.of(file, SpecVersion.VersionFlag.V7));
  }

  /** The names of the messages that the server may send, and the statuses of handshakes. */
  public Set<String> answers() {
    Set<String> answers = new TreeSet<>(sent());
    channel.path("x-handshake").fieldNames().forEachRemaining(answers::add);
    return answers;
  }

  /** The elements of {@link #answers} that occurred so far. */
  public Set<String> seen() {
    return Set.copyOf(seen);
  }

  /** Clears {@link #seen}. */
  public void forget() {
    seen.clear();
  }

  /**
   * Checks a frame that the server sent.
   *
   * @throws AssertionError if it matches none of the documented messages
   */
  public void checkReceived(String frame) {
    List<String> flaws = new ArrayList<>();
    for (String message : sent()) {
      List<String> against = flaws(message, frame);
      if (against.isEmpty()) {
        seen.add(message);
        return;
      }
      flaws.add(message + ": " + String.join(", ", against));
    }
    throw new AssertionError(
        "a frame matches no message that a server sends: " + frame + "\n  " + flaws);
  }

  /** Whether a client may send this frame. */
  public boolean takes(String frame) {
    return flaws("clientMessage", frame).isEmpty();
  }

  /**
   * Checks the status of a handshake.
   *
   * @throws AssertionError if it is not documented
   */
  public void checkHandshake(int status) {
    check("x-handshake", status);
    seen.add(Integer.toString(status));
  }

  /**
   * Checks the code with which the server closed a socket.
   *
   * @throws AssertionError if it is not documented
   */
  public void checkClosed(int code) {
    check("x-close", code);
  }

  private void check(String member, int code) {
    if (!channel.path(member).has(Integer.toString(code))) {
      throw new AssertionError("against the contract: " + member + ": " + code);
    }
  }

  private List<String> flaws(String message, String frame) {
    JsonNode schema =
        specification.resolved(channel.path("messages").path(message)).path("payload");
    Optional<JsonNode> value = Specification.json(frame);
    return value.isEmpty() ? List.of("no JSON") : specification.flaws(schema, value.get());
  }

  /** The names of the messages of an operation and its reply. */
  private Set<String> sent() {
    Set<String> names = new TreeSet<>();
    for (Map.Entry<String, JsonNode> operation :
        specification.root().path("operations").properties()) {
      JsonNode sending =
          operation.getValue().path("action").asText().equals("send")
              ? operation.getValue()
              : operation.getValue().path("reply");
      for (JsonNode message : sending.path("messages")) {
        String reference = message.path("$ref").asText();
        names.add(reference.substring(reference.lastIndexOf('/') + 1));
      }
    }
    return names;
  }
}
