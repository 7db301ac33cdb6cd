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
 * An AsyncAPI 3.0 document of one channel that the frames of sockets, the statuses of handshakes
 * and the codes of closures are held to.
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

  /** What a server may send, by the names of the messages, and how it may answer a handshake. */
  public Set<String> answers() {
    Set<String> answers = new TreeSet<>(sent());
    channel.path("x-handshake").fieldNames().forEachRemaining(answers::add);
    return answers;
  }

  /** Those of {@link #answers} that were checked. */
  public Set<String> seen() {
    return Set.copyOf(seen);
  }

  /** Nothing was seen so far. */
  public void forget() {
    seen.clear();
  }

  /**
   * Holds what the server sent to the contract.
   *
   * @throws AssertionError if it is none of the messages that it may send
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
        "against the contract: no message that a server sends: " + frame + "\n  " + flaws);
  }

  /** Whether a client may send this. */
  public boolean takes(String frame) {
    return flaws("clientMessage", frame).isEmpty();
  }

  /**
   * Holds the status of a handshake to the contract.
   *
   * @throws AssertionError if the contract does not tell of it
   */
  public void checkHandshake(int status) {
    check("x-handshake", status);
    seen.add(Integer.toString(status));
  }

  /**
   * Holds the code with which the server closed a socket to the contract.
   *
   * @throws AssertionError if the contract does not tell of it
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

  /** The names of the messages that an operation sends, or replies with. */
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
