package dev.tollgate.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.Exchange;
import dev.tollgate.local.endpoint.Principal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RequestFileTest {
  @TempDir private Path directory;

  private static Exchange exchange(String operation, Optional<String> resource) {
    Call call =
        new Call(
            "sqs",
            operation,
            Principal.of("Authorizer", "arn:aws:iam::000000000000:role/authorizer"),
            "AKIA",
            Instant.parse("2026-03-01T10:00:00Z"),
            resource,
            "POST",
            "/",
            Map.of(),
            "{\"secret\": true}");
    return new Exchange(call, "/", Map.of(), 200, Map.of(), Optional.of("{\"secret\": true}"));
  }

  @Test
  void each_request_is_a_line_without_bodies_as_soon_as_it_is_answered() throws IOException {
    Path file = directory.resolve("requests.jsonl");
    Files.writeString(file, "of an earlier run\n");

    try (RequestFile requests = RequestFile.create(file)) {
      requests.accept(exchange("ReceiveMessage", Optional.of("a_queue")));
      requests.accept(exchange("ListQueues", Optional.empty()));

      assertThat(Files.readAllLines(file))
          .containsExactly(
              "{\"at\":\"2026-03-01T10:00:00Z\",\"caller\":\"Authorizer\",\"service\":\"sqs\",\"operation\":\"ReceiveMessage\",\"resource\":\"a_queue\",\"status\":200}",
              "{\"at\":\"2026-03-01T10:00:00Z\",\"caller\":\"Authorizer\",\"service\":\"sqs\",\"operation\":\"ListQueues\",\"status\":200}");
    }
  }

  @Test
  void a_file_that_cannot_be_written_is_refused() {
    assertThatThrownBy(() -> RequestFile.create(directory.resolve("none/requests.jsonl")))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("(expected: a writable file)");
  }
}
