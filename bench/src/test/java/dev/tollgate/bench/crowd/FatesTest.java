package dev.tollgate.bench.crowd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.bench.client.Handshake;
import java.util.List;
import org.junit.jupiter.api.Test;

class FatesTest {
  @Test
  void sockets_that_did_not_open_are_counted_by_reason() {
    assertThat(
            Crowd.fates(
                List.of(
                    new Handshake.Refused(429),
                    new Handshake.Unanswered("no answer within 30 s"),
                    new Handshake.Refused(503),
                    new Handshake.Refused(429))))
        .isEqualTo("unanswered 1, refused with 503 1, refused with 429 2");
  }
}
