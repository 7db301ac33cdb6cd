package dev.tollgate.aws.dynamodb.tenant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.testing.Samples;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OperatorChangesTest {
  private static final Author ALICE = new Author("arn:aws:iam::1:user/alice", "request-1");
  private static final Map<String, String> NONE = Map.of();

  private static Optional<AuditEntry> entry(Map<String, String> before, Map<String, String> after) {
    return new OperatorChanges().of("1", before, after, Samples.NOW);
  }

  private static AuditEntry one(Map<String, String> before, Map<String, String> after) {
    return entry(before, after).orElseThrow();
  }

  /** A row of this version, by Alice. */
  private static Map<String, String> row(String key, String name, int version, String... fields) {
    Map<String, String> row =
        new TreeMap<>(
            Map.of(
                key,
                name,
                "schema",
                "1",
                "version",
                Integer.toString(version),
                "observedVersion",
                Integer.toString(version - 1),
                "rolledOut",
                Integer.toString(version - 1),
                "rollOut.walked",
                "false",
                "pending",
                "1",
                "changedBy",
                ALICE.who(),
                "changedIn",
                ALICE.request()));
    for (String field : fields) {
      String[] parts = field.split("=", 2);
      row.put(parts[0], parts[1]);
    }
    return row;
  }

  private static Map<String, String> tenant(int version, String... fields) {
    return row("tenantId", "acme", version, fields);
  }

  private static Map<String, String> tier(int version, String... fields) {
    return row("tier", "own", version, fields);
  }

  private static void check(
      AuditEntry found,
      ChangeType what,
      Author author,
      String subject,
      Map<String, String> from,
      Map<String, String> to) {
    assertThat(found.what()).isEqualTo(what);
    assertThat(found.author()).isEqualTo(author);
    assertThat(found.subject().value()).isEqualTo(subject);
    assertThat(found.from()).isEqualTo(from);
    assertThat(found.to()).isEqualTo(to);
  }

  @Test
  void a_tenant_from_onboarding_to_removal() {
    Map<String, String> first = tenant(1, "tier=gold", "status=ACTIVE");
    Map<String, String> second = tenant(2, "tier=silver", "status=ACTIVE");
    Map<String, String> last = tenant(3, "tier=silver", "status=OFFBOARDING");

    check(
        one(NONE, first),
        ChangeType.TENANT_ONBOARDED,
        ALICE,
        "tenant/acme",
        NONE,
        Map.of("tier", "gold", "status", "ACTIVE"));
    check(
        one(first, second),
        ChangeType.TENANT_CHANGED,
        ALICE,
        "tenant/acme",
        Map.of("tier", "gold"),
        Map.of("tier", "silver"));
    check(
        one(second, last),
        ChangeType.TENANT_OFFBOARDED,
        ALICE,
        "tenant/acme",
        Map.of("status", "ACTIVE"),
        Map.of("status", "OFFBOARDING"));
    check(
        one(last, NONE),
        ChangeType.TENANT_REMOVED,
        ALICE,
        "tenant/acme",
        Map.of("tier", "silver", "status", "OFFBOARDING"),
        NONE);
  }

  @Test
  void a_new_version_of_the_same_settings_is_a_reconciliation() {
    check(
        one(tenant(1, "tier=gold"), tenant(2, "tier=gold")),
        ChangeType.TENANT_RECONCILED,
        ALICE,
        "tenant/acme",
        NONE,
        NONE);
  }

  @Test
  void a_new_version_of_the_same_settings_by_a_repair_is_repaired_drift() {
    AuditEntry found = one(tenant(1, "tier=gold"), tenant(2, "tier=gold", "changedIn=repair/r-1"));

    assertThat(found.what()).isEqualTo(ChangeType.DRIFT_REPAIRED);
    assertThat(found.author()).isEqualTo(new Author(ALICE.who(), "r-1").repairing());
  }

  @Test
  void a_note_is_an_entry_of_its_author_and_no_change_of_the_tenant() {
    String[] note = {
      "note.what=SessionEnded",
      "note.session=0123456789ab",
      "note.changedBy=" + ALICE.who(),
      "note.changedIn=r-9"
    };
    Map<String, String> bare = tenant(1, "tier=gold");
    Map<String, String> noted = new HashMap<>(bare);
    Stream.of(note)
        .map(field -> field.split("=", 2))
        .forEach(field -> noted.put(field[0], field[1]));

    check(
        one(bare, noted),
        ChangeType.SESSION_ENDED,
        new Author(ALICE.who(), "r-9"),
        "tenant/acme",
        NONE,
        Map.of("session", "0123456789ab"));
    check(
        one(noted, tenant(2, "tier=silver")),
        ChangeType.TENANT_CHANGED,
        ALICE,
        "tenant/acme",
        Map.of("tier", "gold"),
        Map.of("tier", "silver"));
  }

  @Test
  void progress_is_no_change() {
    assertThat(entry(tenant(1, "tier=gold"), tenant(1, "tier=gold", "observedVersion=1")))
        .isEmpty();
    assertThat(entry(tier(1, "line=true"), tier(1, "line=true", "rollOut.walkedTo=x"))).isEmpty();
    assertThat(entry(NONE, Map.of("tier", "#release", "release", "7"))).isEmpty();
  }

  @Test
  void the_author_of_an_edited_row_is_unknown() {
    check(
        one(tenant(1, "limits.x=1"), tenant(1, "limits.x=2")),
        ChangeType.TENANT_CHANGED,
        Author.UNKNOWN,
        "tenant/acme",
        Map.of("limits.x", "1"),
        Map.of("limits.x", "2"));
    assertThat(one(tenant(1, "status=ACTIVE"), NONE).author()).isEqualTo(Author.UNKNOWN);
    assertThat(one(tier(1, "line=true"), NONE).author()).isEqualTo(Author.UNKNOWN);
    assertThat(one(NONE, Map.of("tenantId", "acme", "version", "1")).author())
        .isEqualTo(Author.UNKNOWN);
  }

  @Test
  void a_tier_from_creation_to_removal() {
    Map<String, String> first = tier(1, "line=true");
    Map<String, String> second = tier(2, "line=false");

    check(
        one(NONE, first), ChangeType.TIER_CREATED, ALICE, "tier/own", NONE, Map.of("line", "true"));
    check(
        one(first, second),
        ChangeType.TIER_CHANGED,
        ALICE,
        "tier/own",
        Map.of("line", "true"),
        Map.of("line", "false"));
    check(
        one(tier(2, "line=false", "removing=true"), NONE),
        ChangeType.TIER_REMOVED,
        ALICE,
        "tier/own",
        Map.of("line", "false"),
        NONE);
  }

  @Test
  void the_first_change_of_a_default_tier_is_compared_with_the_default() {
    AuditEntry found = one(NONE, row("tier", "gold", 1, "line=false"));

    assertThat(found.what()).isEqualTo(ChangeType.TIER_CHANGED);
    assertThat(found.from()).containsEntry("line", "true").containsKey("isolation");
    assertThat(found.to()).isEqualTo(Map.of("line", "false"));
  }

  @Test
  void a_removed_default_tier_leaves_a_mark() {
    Map<String, String> mark = row("tier", "gold", 0, "removed=true");
    Map<String, String> gold = row("tier", "gold", 1, "line=false");

    check(
        one(row("tier", "gold", 1, "line=false", "changedIn=earlier"), mark),
        ChangeType.TIER_REMOVED,
        ALICE,
        "tier/gold",
        Map.of("line", "false"),
        NONE);
    check(
        one(mark, gold),
        ChangeType.TIER_CREATED,
        ALICE,
        "tier/gold",
        NONE,
        Map.of("line", "false"));
    assertThat(one(gold, mark).author()).as("edited by hand").isEqualTo(Author.UNKNOWN);
    assertThat(one(NONE, mark).what()).isEqualTo(ChangeType.TIER_REMOVED);
  }

  @Test
  void the_switch() {
    Map<String, String> on =
        Map.of(
            "tier",
            "#admit-all",
            "until",
            "7258118400000000000",
            "changedBy",
            ALICE.who(),
            "changedIn",
            ALICE.request());
    Map<String, String> leaving = new TreeMap<>(on);
    leaving.put("removing", "true");

    check(
        one(NONE, on),
        ChangeType.ADMIT_ALL_TURNED_ON,
        ALICE,
        "deployment",
        NONE,
        Map.of("until", "2200-01-01T00:00:00Z"));
    check(
        one(leaving, NONE),
        ChangeType.ADMIT_ALL_TURNED_OFF,
        ALICE,
        "deployment",
        Map.of("until", "2200-01-01T00:00:00Z"),
        NONE);
    assertThat(one(on, NONE).author()).isEqualTo(Author.UNKNOWN);
    assertThat(entry(on, leaving)).isEmpty();

    Map<String, String> over = new TreeMap<>(on);
    over.put("until", "1000000000");
    assertThat(one(over, on).from()).as("it had ended by itself").isEmpty();
    assertThat(entry(over, NONE)).isEmpty();
    Map<String, String> marked = new TreeMap<>(over);
    marked.putAll(Map.of("removing", "true", "changedBy", "bob", "changedIn", "r-9"));
    assertThat(entry(over, marked)).isEmpty();
    Map<String, String> longer = new TreeMap<>(on);
    longer.put("until", "7258118400000000001");
    assertThat(one(on, longer).author()).as("edited by hand").isEqualTo(Author.UNKNOWN);
  }

  private static Map<String, String> condition(String... fields) {
    return row("tier", "#condition/acme", 0, fields);
  }

  @Test
  void conditions_of_a_tenant() {
    Map<String, String> near = condition("near.tenantConnections=85");
    Map<String, String> throttled =
        condition("near.tenantConnections=85", "admitted=60", "refused=31");

    check(
        one(NONE, near),
        ChangeType.LIMIT_NEAR,
        ALICE,
        "tenant/acme",
        NONE,
        Map.of("near.tenantConnections", "85"));
    check(
        one(near, throttled),
        ChangeType.TENANT_THROTTLED,
        ALICE,
        "tenant/acme",
        NONE,
        Map.of("admitted", "60", "refused", "31"));
    check(
        one(throttled, near),
        ChangeType.TENANT_RECOVERED,
        ALICE,
        "tenant/acme",
        Map.of("admitted", "60", "refused", "31"),
        NONE);
    assertThat(one(throttled, NONE).what()).isEqualTo(ChangeType.TENANT_RECOVERED);
    assertThat(entry(near, NONE)).isEmpty();
    assertThat(entry(near, near)).isEmpty();
  }

  @Test
  void a_tier_that_stops_to_enforce_by_itself() {
    Map<String, String> before = tier(1, "retreatAbovePercent=5");
    Map<String, String> after =
        tier(2, "retreatAbovePercent=5", "retreatedAt=7", "modes.tenantPerMinute=OBSERVE");

    assertThat(one(before, after).what()).isEqualTo(ChangeType.RETREAT_BEGUN);
    assertThat(one(after, tier(3, "retreatAbovePercent=5", "retreatedAt=7")).what())
        .isEqualTo(ChangeType.TIER_CHANGED);
    assertThat(one(after, tier(3, "line=true")).what()).isEqualTo(ChangeType.TIER_CHANGED);
  }

  private static String[] window(String id, String from, String to, boolean open) {
    String prefix = "schedules." + id + ".";
    return new String[] {
      "line=true",
      prefix + "factor=2",
      prefix + "from=" + from,
      prefix + "to=" + to,
      prefix + "zone=UTC",
      prefix + "open=" + open
    };
  }

  @Test
  void windows_are_scheduled_opened_closed_and_cancelled() {
    String[] past = {"1999-01-01T00:00", "2000-01-01T00:00"};
    String[] future = {"2098-01-01T00:00", "2099-01-01T00:00"};
    Map<String, String> none = tier(1, "line=true");
    Map<String, String> waiting = tier(2, window("a", future[0], future[1], false));
    Map<String, String> open = tier(3, window("a", future[0], future[1], true));
    Map<String, String> over = tier(4, window("a", past[0], past[1], true));
    Map<String, String> next = tier(5, window("b", future[0], future[1], true));

    assertThat(one(none, waiting).what()).isEqualTo(ChangeType.LIMITS_SCHEDULED);
    assertThat(one(waiting, open).what()).isEqualTo(ChangeType.WINDOW_OPENED);
    assertThat(one(waiting, open).to()).isEqualTo(Map.of("schedules.a.open", "true"));
    assertThat(one(waiting, tier(6, "line=true")).what()).isEqualTo(ChangeType.SCHEDULE_CANCELLED);
    assertThat(one(open, tier(6, "line=true")).what()).isEqualTo(ChangeType.SCHEDULE_CANCELLED);
    assertThat(one(over, next).what()).isEqualTo(ChangeType.WINDOW_OPENED);
    AuditEntry closed = one(over, tier(6, "line=true"));
    assertThat(closed.what()).isEqualTo(ChangeType.WINDOW_CLOSED);
    assertThat(closed.from()).containsEntry("schedules.a.factor", "2");
    assertThat(
            new OperatorChanges()
                .of(
                    "1",
                    open,
                    tier(6, "line=true"),
                    // The time of a stream is rounded down.
                    Instant.parse("2098-12-31T23:59:59Z")))
        .map(AuditEntry::what)
        .contains(ChangeType.WINDOW_CLOSED);
    Map<String, String> tenant = tenant(7, window("a", past[0], past[1], true));
    assertThat(one(tenant, tenant(8, "line=true", "scheduled=1", "dueAt=7")).what())
        .isEqualTo(ChangeType.WINDOW_CLOSED);
  }

  @Test
  void a_row_without_a_valid_key_has_no_entry() {
    assertThat(entry(NONE, Map.of("tenantId", "Not valid"))).isEmpty();
    assertThat(entry(NONE, Map.of("x", "y"))).isEmpty();
  }
}
