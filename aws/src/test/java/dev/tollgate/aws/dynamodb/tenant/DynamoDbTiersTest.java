package dev.tollgate.aws.dynamodb.tenant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import dev.tollgate.core.testing.contract.TiersContract;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

@ExtendWith(Engines.class)
class DynamoDbTiersTest extends TiersContract {
  private final DynamoDbClient client;
  private final String table;
  private final Tiers tiers;

  DynamoDbTiersTest(Engines.Tables tables) {
    client = tables.client();
    table = tables.tier();
    tiers = new DynamoDbTiers(client, table, () -> Author.UNKNOWN);
  }

  @Override
  protected Tiers tiers() {
    return tiers;
  }

  @Test
  void a_tier_of_an_older_release_has_the_default_limits_and_a_line() {
    Limits six = Limits.of(600, 60, 20, 5_000, 600, 20_000);
    Tier bronze = Tier.DEFAULTS.get(0);
    Tier stored =
        new Tier(
            new TierName("stored"),
            bronze.isolation(),
            six,
            bronze.buckets(),
            bronze.fillPolicy(),
            bronze.onUnavailable(),
            bronze.line(),
            bronze.retreat(),
            1,
            1);
    Map<String, AttributeValue> row = new HashMap<>(TierRow.write(stored));
    row.computeIfPresent("limits", DynamoDbTiersTest::ofSix);
    assertThat(row.remove("line")).isEqualTo(AttributeValue.fromBool(true));
    client.putItem(request -> request.tableName(table).item(row));

    assertThat(tiers.find(stored.name())).contains(stored);
    assertThat(tiers.list().items()).contains(stored);
  }

  /** Limits in the form in which a release with six limits stored them. */
  static AttributeValue ofSix(String name, AttributeValue limits) {
    Map<String, AttributeValue> six = new HashMap<>(limits.m());
    six.keySet().removeAll(Set.of("sessionLifetime", "sessionsPerSubject"));
    assertThat(six).hasSize(6);
    return AttributeValue.fromM(six);
  }
}
