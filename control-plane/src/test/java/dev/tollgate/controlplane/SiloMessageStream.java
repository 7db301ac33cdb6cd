package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.testing.memory.InMemorySiloQueues.Message;
import java.util.ArrayList;
import java.util.List;

/**
 * The messages that a tenant keeps sending to its silo, and their processing by the silo's
 * function. Both stop when the silo is removed.
 */
final class SiloMessageStream {
  private static final String GROUP = "acme:session";

  private final ControlPlaneFixture at;
  private final TenantId tenant;
  private final List<String> sent = new ArrayList<>();
  private final List<String> processed = new ArrayList<>();
  private int messages;

  SiloMessageStream(ControlPlaneFixture at, TenantId tenant) {
    this.at = at;
    this.tenant = tenant;
  }

  /** Sends a message, which may be refused. */
  void send() {
    String body = "message-" + ++messages;
    if (at.siloQueues.send(tenant, GROUP, body)) {
      sent.add(body);
    }
  }

  /** Puts a message into the dead-letter queue. */
  void sendDeadLetter() {
    String body = "letter-" + ++messages;
    at.siloQueues.addDeadLetter(tenant, GROUP, body);
    sent.add(body);
  }

  /** The function finishes the messages in flight and processes the waiting ones. */
  void process() {
    at.siloQueues.settle(tenant);
    if (at.siloFunctions.attached().contains(tenant)
        && at.siloFunctions.functions().containsKey(tenant)) {
      at.siloQueues.receive(tenant).forEach(message -> processed.add(message.body()));
    }
  }

  /** Whether the queue has accepted no message. */
  boolean isEmpty() {
    return sent.isEmpty();
  }

  /** Asserts that each accepted message is processed, waiting, or a dead letter of the pool. */
  void assertNothingIsLost() {
    List<String> found = new ArrayList<>(processed);
    at.siloQueues.poolDeadLetters().stream().map(Message::body).forEach(found::add);
    at.siloQueues.contents(tenant).stream().map(Message::body).forEach(found::add);
    assertThat(found).containsAll(sent);
    assertThat(at.siloQueues.deleted()).isEmpty();
  }
}
