package dev.tollgate.aws.dynamodb.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.AuditSpan;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.testing.contract.AuditLogContract;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

@ExtendWith(Engines.class)
class DynamoDbAuditLogTest extends AuditLogContract {
  private final Engines.Tables tables;
  private final String table;
  private final AuditLog log;

  DynamoDbAuditLogTest(Engines.Tables tables) {
    this.tables = tables;
    table = tables.audit();
    log = new DynamoDbAuditLog(tables.client(), table);
  }

  @Override
  protected AuditLog log() {
    return log;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2026-99-99T99:99:99.999Z",
        "2026-03-00T00:00:00.000Z#1",
        "9999-01-01T00:00:00.000Z",
        "2026-03-01T00:00:00.000Z#",
      })
  void a_forged_cursor_is_refused(String cursor) {
    AuditSpan span =
        new AuditSpan(Instant.parse("2026-03-01T00:00:00Z"), Instant.parse("2027-01-01T00:00:00Z"));

    assertThatThrownBy(() -> log.all(span, Optional.of(cursor), 10))
        .isInstanceOf(InvalidValue.class);
  }

  @Test
  void a_row_that_cannot_be_read_is_named_and_hides_no_other() {
    Instant at = Instant.parse("2026-03-12T12:00:00Z");
    AuditEntry entry =
        AuditEntry.of(
            "2",
            at,
            Subject.DEPLOYMENT,
            ChangeType.ADMIT_ALL_TURNED_ON,
            Author.UNKNOWN,
            Map.of(),
            Map.of());
    log.append(entry);
    Map<String, AttributeValue> damaged = new HashMap<>(AuditRow.write(entry));
    damaged.put("at", AttributeValue.fromS("2026-03-12T12:00:00.000Z#1"));
    damaged.remove("what");
    tables.client().putItem(put -> put.tableName(table).item(damaged));

    Page<AuditEntry> page = log.all(new AuditSpan(at, at.plusSeconds(1)), Optional.empty(), 10);

    assertThat(page.items()).containsExactly(entry);
    assertThat(page.unreadable()).hasSize(1);
  }
}
