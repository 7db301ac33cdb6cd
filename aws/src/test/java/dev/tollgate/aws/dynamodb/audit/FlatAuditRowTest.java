package dev.tollgate.aws.dynamodb.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.testing.Samples;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FlatAuditRowTest {
  @Test
  void a_row_of_the_stream_is_the_entry_that_was_written() {
    AuditEntry entry =
        AuditEntry.of(
            "1-x",
            Samples.NOW,
            Subject.tenant(new TenantId("acme")),
            ChangeType.TENANT_CHANGED,
            new Author("alice", "request-1"),
            Map.of("limits.a", "1", "from", "x"),
            Map.of("limits.a", "2", "to.b", ""));
    Map<String, String> row = new TreeMap<>();
    AuditRow.write(entry)
        .forEach(
            (name, value) -> {
              if (value.hasM()) {
                value.m().forEach((field, each) -> row.put(name + "." + field, each.s()));
              } else {
                row.put(name, value.s() == null ? value.n() : value.s());
              }
            });

    assertThat(new FlatAuditRow().of(row)).contains(entry);
  }

  @Test
  void another_row_has_no_entry() {
    assertThat(new FlatAuditRow().of(Map.of())).isEmpty();
    assertThat(new FlatAuditRow().of(Map.of("at", "yesterday#1", "id", "1"))).isEmpty();
  }
}
