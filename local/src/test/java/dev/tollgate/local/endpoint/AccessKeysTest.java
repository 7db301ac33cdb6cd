package dev.tollgate.local.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AccessKeysTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Principal ROLE =
      new Principal("name", "arn:aws:iam::000000000000:role/r", Map.of(), Optional.of(START));

  @TempDir private Path directory;

  private static Instant second(long second) {
    return START.plusSeconds(second);
  }

  private static List<Boolean> found(AccessKeys keys, List<AccessKey> issued) {
    return issued.stream().map(key -> keys.find(key.accessKeyId()).isPresent()).toList();
  }

  @Test
  void exactly_the_expired_keys_are_forgotten_also_those_of_an_earlier_run() {
    List<AccessKey> issued;
    try (AccessKeys keys = new AccessKeys(Optional.of(directory))) {
      issued = LongStream.of(30, 10, 20, 40).mapToObj(at -> keys.issue(ROLE, second(at))).toList();
      keys.forgetExpired(second(9));
      assertThat(found(keys, issued)).containsExactly(true, true, true, true);
      keys.forgetExpired(second(10));
      assertThat(found(keys, issued)).containsExactly(true, false, true, true);
    }
    try (AccessKeys keys = new AccessKeys(Optional.of(directory))) {
      assertThat(found(keys, issued)).containsExactly(true, false, true, true);
      keys.forgetExpired(second(35));
      assertThat(found(keys, issued)).containsExactly(false, false, false, true);
    }
    try (AccessKeys keys = new AccessKeys(Optional.of(directory))) {
      assertThat(found(keys, issued)).containsExactly(false, false, false, true);
    }
  }

  @Test
  void key_without_an_expiry_is_never_forgotten_but_can_be_revoked() {
    AccessKeys keys = new AccessKeys();
    AccessKey key = keys.issue(ROLE);
    keys.forgetExpired(Instant.MAX);
    assertThat(keys.find(key.accessKeyId())).isPresent();

    keys.revoke(key.accessKeyId());

    assertThat(keys.find(key.accessKeyId())).isEmpty();
  }
}
