package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ShardTest {
  @Test
  void sixteen_shards_are_found_by_their_names() {
    assertThat(Shard.all()).hasSize(16).contains(new Shard(0), new Shard(15));
    for (Shard shard : Shard.all()) {
      assertThat(shard).hasToString("shard-" + shard.number());
      assertThat(Shard.named("shard-" + shard.number())).isEqualTo(shard);
    }
    assertThatThrownBy(() -> Shard.named("shard-16"))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining("shard-0 to shard-15");
  }

  @Test
  void number_out_of_range_is_refused() {
    assertThatThrownBy(() -> new Shard(-1)).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> new Shard(16)).isInstanceOf(InvalidValue.class);
  }

  @Test
  void tenants_have_a_shard_that_never_changes_and_together_use_all() {
    assertThat(Shard.of(new TenantId("a"))).isEqualTo(new Shard('a' % 16));
    assertThat(IntStream.range(0, 1_000).mapToObj(i -> Shard.of(new TenantId("tenant-" + i))))
        .containsAll(Shard.all());
  }
}
