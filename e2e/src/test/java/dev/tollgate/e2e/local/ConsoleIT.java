package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Browser;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;
import software.amazon.awssdk.services.sqs.SqsClient;

/** The console's pages in a browser, used by clicking. */
final class ConsoleIT {
  private static final String DRAWN_LEVEL =
      """
      const plot = document.querySelector('#level-chart .u-over').getBoundingClientRect();
      const point = document.querySelector('#level-chart .u-cursor-pt').getBoundingClientRect();
      return (plot.bottom - point.top - point.height / 2) / plot.height;
      """;

  /** The cursor snaps to whole pixels, in a plot about a hundred pixels high. */
  private static final double PIXELS = 0.03;

  /** The largest number of rows in a BatchWriteItem request. */
  private static final int MAX_WRITES = 25;

  private static Browser browser;

  private final LocalDeployment deployment = LocalDeployment.shared();
  private boolean clockMoved;

  @BeforeAll
  static void open() {
    browser = Browser.open();
  }

  @AfterAll
  static void close() {
    if (browser != null) {
      browser.close();
    }
  }

  @AfterEach
  void no_error_is_only_in_the_browser_console() {
    List<String> errors = browser.errors();
    browser.go("about:blank");
    assertThat(errors).allMatch(error -> clockMoved && error.contains("status of 503"));
  }

  /** Moves the clock. A request of the page in progress then has no time left and gets a 503. */
  private void advance(Duration by) throws InterruptedException {
    clockMoved = true;
    deployment.advance(by);
  }

  /** The height of the chart's level at the cursor, as a share of the plot. */
  private static double drawnLevel() {
    return ((Number) Objects.requireNonNull(browser.script(DRAWN_LEVEL))).doubleValue();
  }

  private String sample() {
    return deployment.cloud().outputs().getOrDefault("SampleClient", "");
  }

  private String operator() {
    return deployment.cloud().outputs().getOrDefault("OperatorPage", "");
  }

  private String operator(String tenant) {
    return operator() + "#/tenants/" + tenant + "/now";
  }

  /** The lab with a tenant for its storm. */
  private String lab(String tenant) {
    return operator() + "#/lab?tenant=" + tenant;
  }

  /** The list of the tenants whose ids contain a text. */
  private String list(String part) {
    return operator() + "#/tenants?find=" + part;
  }

  private void onboard(String tenant, String tier, String overrides) {
    assertThat(deployment.onboard(tenant, tier, overrides).status()).isEqualTo(201);
  }

  /** Creates a session of the tenant in the sample client. */
  private void createSession(String tenant) {
    browser.go(sample());
    browser.await("the list of tenants is loaded", () -> browser.find("#create").isEnabled());
    boolean listed = browser.find("#tenant").isDisplayed();
    if (listed) {
      browser.select("#tenant", tenant);
    } else {
      browser.type("#tenant-id", tenant);
    }
    browser.click("#create");
    browser.awaitText("#session-status", text -> text.endsWith("of " + tenant + " is open."));
  }

  private void connect(int sockets) {
    browser.type("#sockets", Integer.toString(sockets));
    browser.click("#connect");
  }

  private static String logged(String kind) {
    return "#log [data-kind=" + kind + "]:last-of-type";
  }

  @Test
  void a_client_connects_exchanges_messages_and_disconnects() {
    onboard("page-happy", "gold", "{}");
    createSession("page-happy");
    browser.awaitText("#verdict-title", "Yes"::equals);
    connect(2);
    browser.awaitText("#connect-status", "2 of 2 sockets open."::equals);
    browser.awaitText("#session-open", "2 of 10"::equals);

    browser.type("#message", "Number {{n}}");
    browser.click("#pooled");
    browser.awaitText("#log", text -> text.contains("Number 1 · sockets 1, 2"));
    browser.click("#silo");
    browser.awaitText("#log", text -> text.contains("Number 2 · sockets 1, 2"));
    assertThat(browser.text("#log")).contains("Accepted", "Received", "Reply");

    browser.click("#disconnect");
    browser.awaitText("#connect-status", "Not connected."::equals);
    browser.click("#delete");
    browser.awaitText("#session-status", "No session yet."::equals);
    browser.awaitText("#log", text -> text.contains("Deleted; its sockets are closed."));
  }

  @Test
  @Tag("nightly")
  void a_second_window_shows_the_same_session_and_messages() {
    onboard("page-twice", "gold", "{}");
    createSession("page-twice");
    connect(1);
    browser.awaitText("#connect-status", "1 of 1 socket open."::equals);
    String first = browser.window();
    browser.window(browser.url());
    browser.await(
        "the page asks for confirmation", () -> browser.find("#confirm-yes").isDisplayed());
    browser.click("#confirm-yes");
    browser.awaitText("#session-status", text -> text.endsWith("of page-twice is open."));
    connect(1);
    browser.awaitText("#connect-status", "1 of 1 socket open."::equals);
    browser.type("#message", "To all windows");
    browser.click("#pooled");
    String second = browser.window();

    browser.switchTo(first);
    browser.awaitText(
        "#log", text -> text.contains("Received") && text.contains("To all windows · socket 1"));
    assertThat(browser.errors()).isEmpty();
    browser.switchTo(second);
    browser.go("about:blank");
    browser.switchTo(first);
  }

  /** A link could name a session whose creator reads its messages too. */
  @Tag("nightly")
  @Test
  void a_link_to_a_session_needs_confirmation() throws Exception {
    onboard("page-fixed", "gold", "{}");
    String theirs = deployment.open("page-fixed");
    String link = sample() + "#tenant=page-fixed&session=" + theirs;

    browser.go(link);
    browser.await("the page asks for confirmation", () -> browser.find("#confirm").isDisplayed());
    assertThat(browser.text("#confirm-text")).contains(theirs, "page-fixed");
    assertThat(browser.text("#session-status")).isEqualTo("No session yet.");
    assertThat(browser.find("#connect").isEnabled()).isFalse();

    browser.click("#confirm-no");
    browser.await("no session in the address", () -> !browser.url().contains(theirs));
    assertThat(browser.text("#session-status")).isEqualTo("No session yet.");

    createSession("page-fixed");
    String own = browser.url();
    browser.go(link);
    browser.await("the page asks for confirmation", () -> browser.find("#confirm").isDisplayed());
    browser.click("#confirm-no");
    browser.await("the first session is shown again", () -> browser.url().equals(own));
  }

  @Test
  @Tag("nightly")
  void a_refused_client_sees_the_reason_and_retries_by_itself() throws Exception {
    onboard("page-refused", "gold", "{\"tenantPerMinute\":6}");
    // Just after a fill, so that no token is due and the next one comes in ten seconds.
    Instant minute = deployment.clock().instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    advance(Duration.between(deployment.clock().instant(), minute));
    createSession("page-refused");
    connect(7);
    browser.awaitText(
        "#verdict-text",
        text ->
            text.matches(
                "The tenant has no tokens left: its limit is 6 new connections per minute\\."
                    + " Next attempt in \\d+ s\\."));
    assertThat(browser.text("#verdict-title")).isEqualTo("Refused");
    assertThat(browser.text("#tenant-rate")).isEqualTo("0 of 6");
    assertThat(browser.text("#connect-status"))
        .isEqualTo("6 of 7 sockets open; the others retry automatically.");
    String counted = browser.text("#verdict-text");
    browser.awaitText("#verdict-text", text -> !text.equals(counted));

    advance(Duration.ofMinutes(1));
    browser.awaitText("#connect-status", "7 of 7 sockets open."::equals);
    browser.awaitText("#session-open", "7 of 10"::equals);
    assertThat(browser.text("#log")).contains("Refused", "Socket 7 of 7 is open.");
  }

  @Test
  @Tag("nightly")
  void a_client_over_the_connection_limit_waits_for_a_free_connection() {
    onboard("page-full", "gold", "{\"connectionsPerSession\":1}");
    createSession("page-full");
    connect(2);
    browser.awaitText(
        "#verdict-text",
        text -> text.startsWith("This session has reached its limit of 1 open connection."));
    assertThat(deployment.control("PATCH", "/tenants/page-full", "{\"overrides\":{}}").status())
        .isEqualTo(200);
    browser.awaitText("#connect-status", "2 of 2 sockets open."::equals);
  }

  /** The number of answers whose URLs end so that the page has received. */
  private static long answers(String end) {
    return (Long)
        browser.script(
            "return performance.getEntriesByType('resource')"
                + ".filter(({name}) => name.includes(arguments[0])).length",
            end);
  }

  /** Waits until the page has drawn twice more; a list that is open must not change then. */
  private static void awaitSameOptions(String select) {
    browser.await(select, () -> !browser.all(select + " option").isEmpty());
    WebElement option = browser.find(select + " option");
    long activity = answers("/activity");
    browser.await("the activity", () -> answers("/activity") > activity + 1);
    assertThat(option.isDisplayed()).as("the same option as before").isTrue();
  }

  @Test
  @Tag("nightly")
  void a_tier_change_shows_in_level_and_rate() throws Exception {
    onboard("page-tier", "bronze", "{}");
    browser.go(operator("page-tier"));
    browser.awaitText("#level-chart .legend", text -> text.contains("Capacity 60"));
    browser.awaitText("#fill-rate", "60/min"::equals);
    openTab("limits");
    awaitSameOptions("#tier");

    browser.select("#tier", "gold");
    browser.awaitText("[data-limit=tenantConnections] .effective", "1,000"::equals);
    browser.click("#preview");
    browser.awaitText("#preview-result", text -> text.contains("tier bronze → gold"));
    browser.click("#save");
    browser.awaitText("#notices", text -> text.contains("page-tier is now in tier gold."));
    openTab("now");
    browser.awaitText("#fill-rate", "180/min"::equals);
    advance(Duration.ofMinutes(2));
    browser.awaitText("#level-chart .legend", text -> text.contains("Level 180"));
    assertThat(browser.text("#level-chart .legend")).contains("Capacity 180", "Fill rate/min 180");
    browser.point("#level-chart .u-over", 0);
    assertThat(browser.text("#level-chart figcaption"))
        .as("the values at the left edge")
        .containsPattern("\\d+.s ago")
        .contains("Level 60", "Capacity 60", "Fill rate/min 60");
    double first = drawnLevel();
    // The samples move to the left below the pointer.
    browser.point("#level-chart .u-over", 1);
    browser.awaitText("#level-chart .legend", text -> text.contains("Level 180"));
    double last = drawnLevel();
    assertThat(last).as("180 tokens, as drawn").isCloseTo(1 / 1.05, within(PIXELS));
    assertThat(first).as("60 tokens beside 180").isCloseTo(last / 3, within(PIXELS));
    assertThat(browser.attribute("#level-chart .plot", "aria-label"))
        .contains("Now: Level 180, Capacity 180");

    openTab("limits");
    browser.select("#tier", "bronze");
    browser.click("#preview");
    browser.awaitText("#preview-result", text -> text.contains("to 60 tokens at the next fill"));
    browser.click("#save");
    openTab("now");
    browser.awaitText("#level-chart .legend", text -> text.contains("Capacity 60"));
  }

  /** Opens a tab of the tenant that is shown. */
  private static void openTab(String tab) {
    browser.click("[data-tab=" + tab + "]");
    browser.await(
        tab + " is open",
        () -> browser.attribute("[data-tab=" + tab + "]", "aria-current").equals("page"));
  }

  @Tag("nightly")
  @Test
  void limits_of_a_tenant_are_previewed_against_its_history_changed_and_undone() throws Exception {
    onboard("page-limits", "bronze", "{\"tenantPerMinute\":9,\"line\":false}");
    for (int i = 0; i < 6; i++) {
      deployment.connect("page-limits", deployment.open("page-limits"));
    }
    // A replay leaves out the minutes whose counts may change.
    advance(Duration.ofMinutes(4));
    browser.go(operator() + "#/tenants/page-limits/limits");
    browser.awaitText("[data-limit=tenantPerMinute] .effective", "9"::equals);
    assertThat(browser.find("#preview").isEnabled()).as("nothing is changed").isFalse();

    browser.type("[name=tenantPerMinute]", "2");
    browser.select("[data-limit=sessionPerMinute] select", "OBSERVE");
    browser.select("#replay", "1h");
    browser.click("#preview");
    browser.awaitText(
        "#preview-result",
        text ->
            text.contains("limits.tenantPerMinute 9 → 2")
                && text.contains("In the last hour, 1 tenant would have been refused:")
                && text.contains("2 instead of 9 would have refused"));
    assertThat(overridesOf("page-limits")).isEqualTo("{line=false, tenantPerMinute=9}");
    browser.type("[name=tenantPerMinute]", "3");
    assertThat(browser.find("#save").isDisplayed()).as("another preview is needed").isFalse();
    browser.click("#preview");
    browser.click("#save");
    browser.awaitText("#notices", text -> text.contains("The limits of page-limits are changed."));
    assertThat(overridesOf("page-limits"))
        .isEqualTo("{line=false, modes={\"sessionPerMinute\":\"OBSERVE\"}, tenantPerMinute=3}");
    browser.click("#undo");
    browser.awaitText("#notices", text -> text.contains("The change of page-limits is undone."));
    assertThat(overridesOf("page-limits")).isEqualTo("{line=false, tenantPerMinute=9}");

    browser.type("[name=tenantPerMinute]", "4");
    deployment.control("PATCH", "/tenants/page-limits", "{\"overrides\":{}}");
    browser.awaitText(".limits-form", text -> text.contains("page-limits was changed meanwhile"));
    assertThat(browser.find("#preview").isEnabled()).isFalse();
    browser.click("#discard");
    browser.awaitText("[data-limit=tenantPerMinute] .effective", "60"::equals);

    // The audit writes its entries by the clock of the deployment.
    advance(Duration.ofSeconds(10));
    openTab("history");
    browser.awaitText("#history-summary", text -> text.contains("6 connections admitted"));
    browser.await("the chart is drawn", () -> !browser.all("#history-chart canvas").isEmpty());
    browser.awaitText(".entries", text -> text.contains("limits.tenantPerMinute 9 → 3"));
    browser.click("[aria-label='The last 31 days']");
    browser.await("the range is in the address", () -> browser.url().endsWith("?range=31d"));
    openTab("audit");
    browser.awaitText(".entries", text -> text.contains("limits.tenantPerMinute 9 → 3"));
    browser.press(Keys.ARROW_RIGHT);
    browser.await("the next tab", () -> browser.url().endsWith("/page-limits/danger"));
  }

  /** The overrides, with the names in order. */
  private String overridesOf(String tenant) {
    Map<String, String> overrides = new TreeMap<>();
    deployment
        .control("GET", "/tenants/" + tenant)
        .body()
        .get("overrides")
        .properties()
        .forEach(one -> overrides.put(one.getKey(), one.getValue().toString()));
    return overrides.toString();
  }

  @Test
  @Tag("nightly")
  void a_tier_is_changed_after_a_preview_of_its_tenants() {
    String definition =
        "{\"isolation\":\"POOL\",\"limits\":{\"tenantPerMinute\":50,\"sessionPerMinute\":5,"
            + "\"connectionsPerSession\":2,\"tenantConnections\":20,\"sessionTTL\":200,"
            + "\"messagesPerMinute\":60}}";
    assertThat(deployment.control("PUT", "/tiers/page-tier", definition).status()).isEqualTo(201);
    onboard("tier-plain", "page-tier", "{}");
    onboard("tier-own", "page-tier", "{\"tenantConnections\":30}");
    browser.go(operator() + "#/tiers");
    browser.click("[data-tier=page-tier] a");
    browser.awaitText("#rollout", text -> text.startsWith("Version 1 is applied everywhere"));
    browser.type("[name=tenantConnections]", "15");
    browser.click("#preview");
    browser.awaitText(
        "#preview-result",
        text ->
            text.contains("1 of 2 tenants would change") && text.contains("1 tenant overrides it"));
    browser.click("#save");
    browser.awaitText("#notices", text -> text.contains("Tier page-tier is changed"));
    assertThat(limitOf("tier-plain")).isEqualTo(15);
    browser.awaitText("#rollout", text -> text.startsWith("Version 2 is applied everywhere"));
    browser.click("#undo");
    browser.awaitText("#notices", text -> text.contains("The change of tier page-tier is undone"));
    assertThat(limitOf("tier-plain")).isEqualTo(20);
    assertThat(limitOf("tier-own")).isEqualTo(30);
  }

  @Test
  @Tag("nightly")
  void a_tier_is_copied_and_deleted_once_it_has_no_tenants() {
    browser.go(operator() + "#/tiers/gold");
    browser.awaitText("#view h1", "Tier gold"::equals);
    browser.type("#copy-name", "bronze");
    browser.click("#copy");
    browser.awaitText("#notices", text -> text.contains("Tier bronze exists already"));
    browser.type("#copy-name", "gold-copy");
    browser.click("#copy");
    browser.awaitText("#view h1", "Tier gold-copy"::equals);
    JsonNode copy = deployment.control("GET", "/tiers/gold-copy").body();
    JsonNode gold = deployment.control("GET", "/tiers/gold").body();
    assertThat(copy.path("limits")).isEqualTo(gold.path("limits"));
    assertThat(copy.path("isolation")).isEqualTo(gold.path("isolation"));

    onboard("copied", "gold-copy", "{}");
    browser.await(
        "a tier with tenants cannot be deleted", () -> !browser.find("#delete-tier").isEnabled());
    deployment.control("PATCH", "/tenants/copied", "{\"tier\":\"gold\"}");
    browser.click("#delete-tier");
    browser.type("#confirm-name", "gold-copy");
    browser.click("#confirm-yes");
    browser.awaitText("#notices", text -> text.contains("Tier gold-copy is deleted"));
    assertThat(deployment.control("GET", "/tiers/gold-copy").status()).isEqualTo(404);
  }

  private int limitOf(String tenant) {
    return deployment
        .control("GET", "/tenants/" + tenant)
        .body()
        .at("/limits/tenantConnections")
        .asInt();
  }

  @Test
  void an_operator_sees_alarms_checks_for_drift_and_lifts_all_limits() throws Exception {
    onboard("page-drift", "bronze", "{}");
    browser.go(operator() + "#/health");
    browser.awaitText("#alarms-title ~ *", text -> text.contains("alarm"));
    browser.click("#check-drift");
    browser.awaitText(
        "#drift-state", text -> text.matches("\\d+ findings? in .* resources, at .*"));

    browser.type("#lift-reason", "Trying it out");
    browser.type("#lift-minutes", "5");
    browser.click("#lift");
    browser.awaitText("#confirm-text", text -> text.startsWith("Nothing is refused for 5 minutes"));
    browser.click("#confirm-yes");
    browser.awaitText("#admit-all-state", text -> text.endsWith(": Trying it out"));
    browser.awaitText("#lifted", text -> text.endsWith(": Trying it out"));
    browser.click("#enforce");
    browser.awaitText("#admit-all-state", "Limits are enforced."::equals);

    // The audit writes its entries by the clock of the deployment.
    advance(Duration.ofSeconds(10));
    browser.go(operator() + "#/audit");
    browser.await("entries are shown", () -> !browser.all(".entries li").isEmpty());
    browser.type("#audit-tenant", "page-drift");
    browser.find("#audit-tenant").sendKeys(Keys.ENTER);
    browser.await(
        "the filter is in the address", () -> browser.url().contains("tenant=page-drift"));
    browser.awaitText(".entries", text -> text.contains("onboarded"));
    assertThat(browser.all(".entries li")).hasSizeLessThan(9);
  }

  @Test
  @Tag("nightly")
  void a_load_test_of_one_tenant_does_not_affect_another_tenant() {
    onboard("pair-a", "silver", "{\"tenantPerMinute\":10}");
    onboard("pair-b", "bronze", "{}");
    browser.go(operator("pair-a"));
    browser.click("#to-lab");
    browser.awaitText("#view h1", "Lab"::equals);
    browser.select("#neighbour", "pair-b");
    browser.type("#attempts", "60");
    browser.click("#storm");
    browser.awaitText("#storm-refused", text -> Integer.parseInt(text) > 10);
    browser.go(list("pair-"));
    browser.awaitText("#rows [data-id=pair-a] .state", "Throttled"::equals);
    browser.awaitText("#rows [data-id=pair-a] .why", "Over 10 connections a minute"::equals);
    assertThat(browser.text("#rows [data-id=pair-b] .state")).isEqualTo("Active");
    browser.go(operator("pair-a"));
    browser.awaitText("#tenant-sentence", text -> text.contains("over 10 connections a minute"));
    browser.go(lab("pair-a"));
    browser.awaitText("#storm-sentence", text -> text.contains("has ended"));
    assertThat(browser.text("#storm-sentence"))
        .isEqualTo(
            "The storm on pair-a has ended: 10 admitted, 50 refused, all closed. pair-b was admitted"
                + " each time.");
    assertThat(browser.text("#storm-neighbour")).isEqualTo("3 of 3");
    browser.go(operator("pair-a"));
    browser.awaitText("#open", text -> text.startsWith("0 of"));
  }

  @Test
  @Tag("nightly")
  void a_load_test_can_be_stopped() {
    onboard("storm-c", "gold", "{}");
    browser.go(lab("storm-c"));
    browser.select("#neighbour", "");
    browser.type("#attempts", "1000");
    browser.click("#storm");
    browser.awaitText("#storm-admitted", text -> !text.equals("0"));
    assertThat(browser.text("#storm")).isEqualTo("Stop storm");
    browser.click("#storm");
    browser.awaitText("#storm-sentence", text -> text.contains("was stopped"));
    browser.go(operator("storm-c"));
    browser.awaitText("#open", text -> text.startsWith("0 of"));
  }

  @Test
  void an_operator_onboards_suspends_activates_and_offboards_a_tenant() {
    browser.go(list(""));
    browser.click("#onboard");
    browser.click("#new-id"); // Waits for the module of the dialog.
    browser.type("#new-id", "page-new");
    browser.select("#new-tier", "silver");
    browser.click("#onboard-dialog summary");
    browser.type("#overrides [name=tenantConnections]", "7");
    browser.find("#new-id").sendKeys(Keys.ENTER);
    browser.awaitText("#detail-title", "page-new"::equals);
    browser.awaitText("#open", "0 of 7"::equals);

    browser.click("#close");
    browser.click("#onboard");
    browser.click("#new-id"); // Waits for the module of the dialog.
    browser.type("#new-id", "page-new");
    browser.select("#new-tier", "gold");
    browser.find("#new-id").sendKeys(Keys.ENTER);
    browser.await("the page shows the error", () -> browser.find("#onboard-error").isDisplayed());
    assertThat(browser.text("#onboard-error")).contains("page-new");
    browser.click("#onboard-cancel");

    browser.go(operator("page-new"));
    openTab("danger");
    browser.click("#suspend");
    browser.click("#confirm-yes");
    browser.awaitText("#detail-badges", text -> text.contains("Suspended"));
    browser.click("#suspend");
    browser.awaitText("#detail-badges", text -> text.contains("Active"));
    browser.click("#offboard");
    browser.click("#confirm-no");
    assertThat(browser.text("#detail-title")).isEqualTo("page-new");
    browser.click("#offboard");
    assertThat(browser.accessibilityFindings()).isEmpty();
    assertThat(browser.find("#confirm-yes").isEnabled()).isFalse();
    browser.find("#confirm-name").sendKeys("page-ne", Keys.ENTER);
    assertThat(browser.find("#confirm-yes").isEnabled()).isFalse();
    assertThat(browser.find("#confirm").isDisplayed()).isTrue();
    assertThat(deployment.control("GET", "/tenants/page-new").body().get("status").asText())
        .isEqualTo("ACTIVE");
    browser.find("#confirm-name").sendKeys("w");
    browser.click("#confirm-yes");
    browser.await("the list is shown", () -> browser.url().endsWith("#/tenants"));
    browser.await("the tenant is closed", () -> browser.all("#detail-title").isEmpty());
    assertThat(deployment.control("GET", "/tenants/page-new").status()).isEqualTo(404);
    // The page showed both errors: the refused request, and the 404 for the tenant after its
    // removal. The accessibility check reads a canvas, which the browser warns about.
    assertThat(browser.errors())
        .allSatisfy(
            error -> assertThat(error).containsPattern("/tenants.* status of 4(09|04)|Canvas2D"));
  }

  @Tag("nightly")
  @Test
  void an_operator_sees_a_line_clears_it_and_switches_it_off_and_on() {
    onboard("page-line", "bronze", "{\"tenantPerMinute\":3,\"tenantConnections\":9}");
    for (int i = 0; i < 6; i++) {
      int status = deployment.connect("page-line", deployment.open("page-line")).status();
      assertThat(status).isEqualTo(i < 3 ? 101 : 429);
    }

    browser.go(operator("page-line"));
    browser.awaitText("#in-line", "3"::equals);
    assertThat(browser.text("#line-wait")).matches("\\d min \\d+ s");
    browser.go(list("page-line"));
    browser.awaitText("[data-id=page-line] .waiting", "3"::equals);
    assertThat(browser.accessibilityFindings()).isEmpty();
    browser.click("[data-id=page-line] a");
    openTab("line");

    browser.click("#clear-line");
    browser.awaitText("#confirm-text", text -> text.startsWith("3 clients lose their places."));
    browser.click("#confirm-no");
    assertThat(browser.text("#in-line")).isEqualTo("3");
    browser.click("#clear-line");
    browser.click("#confirm-yes");
    browser.awaitText("#notices", text -> text.contains("The line of page-line is cleared."));
    browser.awaitText("#in-line", "0"::equals);
    assertThat(browser.find("#clear-line").isEnabled()).isFalse();

    browser.select("#line", "false");
    browser.click("#change-line");
    browser.awaitText("#in-line", "off"::equals);
    assertThat(deployment.control("GET", "/tenants/page-line").body().get("overrides").toString())
        .as("the other overrides are kept")
        .isEqualTo("{\"tenantPerMinute\":3,\"tenantConnections\":9,\"line\":false}");
    browser.select("#line", "");
    browser.click("#change-line");
    browser.awaitText("#in-line", "0"::equals);
    assertThat(browser.errors()).allSatisfy(error -> assertThat(error).contains("Canvas2D"));
  }

  @Tag("nightly")
  @Test
  void an_operator_ends_a_session_of_a_tenant() throws Exception {
    onboard("page-sessions", "bronze", "{}");
    browser.go(operator("page-sessions"));
    openTab("sessions");
    browser.awaitText("#no-sessions", text -> text.startsWith("No sessions."));
    String session = deployment.open("page-sessions");
    String kept = deployment.open("page-sessions");
    assertThat(deployment.connect("page-sessions", session).status()).isEqualTo(101);
    // A new document: the open one looks again after ten seconds.
    browser.go("about:blank");
    browser.go(operator() + "#/tenants/page-sessions/sessions");
    String row = "[data-session='" + session.substring(0, 12) + "']";
    browser.await("the session is listed", () -> !browser.all(row).isEmpty());
    assertThat(browser.text(row)).contains(" 1 ").doesNotContain(session);
    assertThat(browser.accessibilityFindings()).isEmpty();

    browser.click(row + " .end-session");
    browser.awaitText("#confirm-text", text -> text.startsWith("This closes 1 open socket."));
    browser.click("#confirm-no");
    browser.click(row + " .end-session");
    browser.click("#confirm-yes");
    browser.await("the session is gone", () -> browser.all(row).isEmpty());

    assertThat(browser.text("#sessions")).contains(kept.substring(0, 12));
    assertThat(deployment.connect("page-sessions", session).status()).isEqualTo(403);
    // The audit writes its entries by the clock of the deployment.
    advance(Duration.ofSeconds(5));
    openTab("audit");
    browser.awaitText(".entries", text -> text.contains("session ended"));
    assertThat(browser.errors())
        .allSatisfy(error -> assertThat(error).containsPattern("Canvas2D|status of 503"));
  }

  @Tag("nightly")
  @Test
  void an_operator_sees_dead_letters_and_moves_them_back() throws Exception {
    onboard("page-dead", "bronze", "{}");
    onboard("page-silo", "gold", "{}");
    String session = deployment.open("page-dead");
    browser.go(operator("page-dead"));
    browser.click("#to-dead");
    browser.awaitText("#no-dead-letters", text -> text.startsWith("No dead letters."));
    assertThat(browser.find("#redrive").isEnabled()).isFalse();
    try (SqsClient queues = deployment.inspect(SqsClient.builder())) {
      putDeadLetter(queues, "tollgate_pool_dead.fifo", "page-dead:" + session, "<b>one</b>");
      putDeadLetter(queues, "tollgate_pool_dead.fifo", "page-dead:" + session, "two");
      putDeadLetter(queues, "silo_page-silo_dead.fifo", "page-silo:" + session, "three");
    }
    browser.click("#look-again");
    browser.awaitText("#dead-state", "2 dead letters."::equals);
    assertThat(browser.text("#dead-letters"))
        .contains("<b>one</b>", "two", session.substring(0, 12))
        .doesNotContain("three", session);
    browser.size(320, 900);
    assertAccessible("light");
    browser.size(1280, 900);

    browser.click("#redrive");
    browser.awaitText("#confirm-text", text -> text.contains("the shared queue"));
    browser.click("#confirm-yes");
    browser.awaitText("#notices", text -> text.contains("2 messages moved back."));
    browser.awaitText("#no-dead-letters", text -> text.startsWith("No dead letters."));
    // The audit writes its entries by the clock of the deployment.
    advance(Duration.ofSeconds(5));
    openTab("audit");
    browser.awaitText(".entries", text -> text.contains("redrive of dead letters requested"));

    JsonNode silo = deployment.control("GET", "/tenants/page-silo/dead-letters").body();
    assertThat(silo.at("/deadLetters/0/queue").asText()).isEqualTo("SILO");
    assertThat(deployment.control("POST", "/tenants/page-silo/dead-letters/redrive", "").body())
        .hasToString("{\"moved\":1,\"complete\":true}");
    deployment.cloud().settle();
    assertThat(deployment.control("GET", "/tenants/page-silo/dead-letters").body().get("count"))
        .hasToString("0");
    assertThat(browser.errors())
        .allSatisfy(error -> assertThat(error).containsPattern("Canvas2D|status of 503"));
  }

  private static void putDeadLetter(SqsClient queues, String name, String group, String body) {
    String url = queues.getQueueUrl(request -> request.queueName(name)).queueUrl();
    queues.sendMessage(
        request ->
            request
                .queueUrl(url)
                .messageBody(body)
                .messageGroupId(group)
                .messageDeduplicationId(UUID.randomUUID().toString()));
  }

  @Test
  @Tag("nightly")
  void a_search_among_a_thousand_tenants_finds_one_by_its_id() {
    onboard("bulk-0000", "bronze", "{}");
    String table = "TablesTenant";
    try (DynamoDbClient rows = deployment.inspect(DynamoDbClient.builder())) {
      Map<String, AttributeValue> row =
          new HashMap<>(
              rows.getItem(
                      get ->
                          get.tableName(table)
                              .key(Map.of("tenantId", AttributeValue.fromS("bulk-0000"))))
                  .item());
      List<String> ids = IntStream.range(1, 1_000).mapToObj("bulk-%04d"::formatted).toList();
      try {
        inBatches(rows, table, ids, id -> put(row, id));
        browser.go(list("bulk-"));
        browser.awaitText("#count", text -> text.matches("1,000 of [1-9],\\d+"));
        assertThat(browser.all("#rows [data-id]")).as("rows on the screen").hasSizeLessThan(60);
        browser.script("scrollTo(0, document.body.scrollHeight)");
        browser.await("the last row", () -> !browser.all("[data-id=bulk-0999]").isEmpty());
        browser.type("#find", "0711");
        browser.awaitText("#rows", text -> text.startsWith("bulk-0711"));
        assertThat(browser.all("#rows [data-id]")).hasSize(1);
      } finally {
        inBatches(rows, table, ids, ConsoleIT::delete);
      }
    }
  }

  private static void inBatches(
      DynamoDbClient rows, String table, List<String> ids, Function<String, WriteRequest> write) {
    for (int from = 0; from < ids.size(); from += MAX_WRITES) {
      List<WriteRequest> batch = ids.stream().skip(from).limit(MAX_WRITES).map(write).toList();
      assertThat(rows.batchWriteItem(request -> request.requestItems(Map.of(table, batch))))
          .satisfies(written -> assertThat(written.unprocessedItems()).isEmpty());
    }
  }

  private static WriteRequest put(Map<String, AttributeValue> row, String id) {
    Map<String, AttributeValue> other = new HashMap<>(row);
    other.put("tenantId", AttributeValue.fromS(id));
    return WriteRequest.builder().putRequest(put -> put.item(other)).build();
  }

  private static WriteRequest delete(String id) {
    return WriteRequest.builder()
        .deleteRequest(delete -> delete.key(Map.of("tenantId", AttributeValue.fromS(id))))
        .build();
  }

  @Test
  void tenants_are_found_and_opened_by_keys_and_the_address_keeps_the_search() {
    onboard("keys-1", "bronze", "{}");
    onboard("keys-2", "bronze", "{}");
    onboard("other-keys-3", "silver", "{}");
    browser.go(operator());
    browser.awaitText("#view h1", "Overview"::equals);
    browser.press("/");
    browser.await("the search has the focus", () -> focused().equals("find"));
    browser.press("KEYS-");
    browser.awaitText("#count", text -> text.startsWith("3 of "));
    assertThat(browser.url()).endsWith("#/tenants?find=KEYS-");
    browser.press(Keys.ARROW_DOWN);
    assertThat(focused()).isEqualTo("keys-1");
    browser.press(Keys.ARROW_DOWN);
    assertThat(focused()).isEqualTo("keys-2");
    browser.press(Keys.ENTER);
    browser.awaitText("#detail-title", "keys-2"::equals);
    browser.script("history.back()");
    browser.awaitText("#count", text -> text.startsWith("3 of "));
    browser.script("location.reload()");
    browser.awaitText("#count", text -> text.startsWith("3 of "));
    browser.select("#tier-filter", "silver");
    browser.awaitText("#count", text -> text.startsWith("1 of "));
    browser.script("document.activeElement.blur()");
    browser.press("?");
    browser.await("the keys are shown", () -> browser.find("#keys").isDisplayed());
    browser.press(Keys.ESCAPE);
    browser.find("#find").sendKeys(Keys.ESCAPE);
    browser.awaitText("#count", text -> text.matches("(\\S+) of \\1"));
    browser.type("#find", "nobody");
    browser.awaitText("#empty", text -> text.startsWith("No matching tenants."));
  }

  /** The id of the focused element, or its text. */
  private static String focused() {
    return String.valueOf(
        browser.script(
            "return document.activeElement.id || document.activeElement.textContent.trim()"));
  }

  @Tag("nightly")
  @Test
  void several_tenants_are_suspended_after_a_preview_and_resumed() {
    onboard("group-1", "bronze", "{}");
    onboard("group-2", "bronze", "{}");
    browser.go(list("group-"));
    browser.click("[data-id=group-1] .pick input");
    browser.click("[data-id=group-2] .pick input");
    browser.awaitText(".bulk b", "2 selected"::equals);
    browser.click(".bulk button:nth-of-type(1)");
    browser.awaitText("#bulk", text -> text.contains("2 tenants change."));
    assertThat(browser.accessibilityFindings()).isEmpty();
    assertThat(statusOf("group-1")).isEqualTo("ACTIVE");
    browser.click("#bulk .primary");
    browser.awaitText("#bulk", text -> text.contains("2 tenants are changed."));
    browser.click("#bulk button");
    browser.awaitText("[data-id=group-2] .state", "Suspended"::equals);
    assertThat(statusOf("group-1")).isEqualTo("SUSPENDED");
    browser.click("[data-chip=suspended]");
    browser.awaitText("#count", text -> text.startsWith("2 of "));
    browser.errors(); // The accessibility check reads a canvas, which the browser warns about.
  }

  private String statusOf(String tenant) {
    return deployment.control("GET", "/tenants/" + tenant).body().get("status").asText();
  }

  @Tag("nightly")
  @Test
  void the_overview_names_who_is_refused_and_why() throws Exception {
    onboard("page-hot", "bronze", "{\"tenantPerMinute\":2}");
    browser.go(operator());
    for (int i = 0; i < 7; i++) {
      deployment.connect("page-hot", deployment.open("page-hot"));
    }
    // The history has a minute when it is over.
    advance(Duration.ofMinutes(1));
    browser.awaitText(".top", text -> text.contains("page-hot Over 2 connections a minute"));
    assertThat(browser.text(".headline")).contains("refused in the last 5 minutes");
    assertThat(browser.text(".facts-line")).contains("Limits enforced", "Tollgate");
    browser.await("the chart is drawn", () -> !browser.all("#fleet-chart canvas").isEmpty());
    browser.awaitText(".changes", text -> text.contains("page-hot"));
    browser.click("[aria-label='The last 6 hours']");
    browser.await("the range is in the address", () -> browser.url().endsWith("?range=6h"));
    browser.awaitText("#fleet-chart .legend", text -> text.contains("Refused: tenant’s rate"));
  }

  @Tag("nightly")
  @ParameterizedTest
  @CsvSource({
    "sample, light, 1280",
    "sample, dark, 390",
    "tenants/page-axe/now tenants/page-axe/history lab, light, 390",
    "tenants/page-axe/now tenants/page-axe/limits tiers/bronze, dark, 1280",
    "tenants/page-axe/limits tenants/page-axe/history health?alarms=all, dark, 768",
    "tenants/page-axe/limits tenants/page-axe/danger tiers/bronze health audit lab, light, 320",
    "tenants/page-axe/sessions tenants/page-axe/dead, dark, 320",
    "tiers tenants/page-axe/line tenants/page-axe/audit tenants/page-axe/now health, light, 640",
    "overview, light, 320",
    "overview, dark, 1440",
    "tenants, light, 320",
    "tenants, dark, 768",
    "tenants, light, 1200",
    "tenants, light, 1440"
  })
  void pages_have_no_serious_accessibility_findings(String page, String scheme, int width) {
    if (deployment.control("GET", "/tenants/page-axe").status() == 404) {
      onboard("page-axe", "bronze", "{\"tenantPerMinute\":2}");
      deployment.open("page-axe");
    }
    browser.size(width, 900).scheme(scheme);
    if (page.equals("sample")) {
      createSession("page-axe");
      connect(3);
      browser.await("the refusal is shown", () -> !browser.all(logged("refused")).isEmpty());
    } else if (page.equals("overview")) {
      browser.go(operator());
      browser.await("the chart is drawn", () -> !browser.all("#fleet-chart canvas").isEmpty());
    } else if (page.equals("tenants")) {
      browser.go(list("page-"));
      browser.await("rows are shown", () -> !browser.all("#rows [data-id]").isEmpty());
    } else {
      // The views of one load: the API accepts only some loads a minute.
      for (String view : page.split(" ", -1)) {
        browser.go(operator() + "#/" + view);
        browser.await("a card is shown", () -> !browser.all("#view .card").isEmpty());
        browser.await("all is loaded", () -> !browser.text("#view").contains("Loading …"));
        assertAccessible(scheme);
      }
    }
    assertAccessible(scheme);
    browser.size(1280, 900).scheme("light");
    // A browser warning about axe itself is not an error of the page.
    assertThat(browser.errors()).allSatisfy(error -> assertThat(error).contains("Canvas2D"));
  }

  private static void assertAccessible(String scheme) {
    assertThat(browser.script("return document.documentElement.dataset.theme")).isEqualTo(scheme);
    assertThat(browser.errors()).allSatisfy(error -> assertThat(error).contains("Canvas2D"));
    assertThat(browser.accessibilityFindings()).isEmpty();
    assertThat(
            (Boolean) browser.script("return document.documentElement.scrollWidth <= innerWidth"))
        .as("nothing exceeds the width of the window")
        .isTrue();
    assertThat(
            (Boolean)
                browser.script(
                    """
                    const shown = heading => heading.closest("thead").clientWidth > 1;
                    return [...document.querySelectorAll("thead th")].filter(shown).every(heading => {
                      const text = document.createRange();
                      text.selectNodeContents(heading);
                      const box = heading.getBoundingClientRect();
                      return text.getBoundingClientRect().left >= box.left
                          && text.getBoundingClientRect().right <= box.right;
                    })"""))
        .as("headings do not overlap")
        .isTrue();
  }

  @Test
  void a_chosen_color_scheme_is_kept() {
    browser.scheme("light").go(sample());
    browser.click("#theme");
    assertThat(browser.attribute("#theme", "aria-pressed")).isEqualTo("true");
    browser.go(operator());
    assertThat(browser.script("return document.documentElement.dataset.theme")).isEqualTo("dark");
    browser.script("localStorage.clear()");
  }

  @Test
  void an_unknown_address_gets_a_page_with_a_link_back() {
    browser.go(sample() + "nothing/here");
    assertThat(browser.text("h1")).isEqualTo("Page not found");
    browser.click("a[href$=operator]");
    browser.awaitText("#view h1", "Overview"::equals);
    assertThat(browser.errors()).allSatisfy(error -> assertThat(error).contains("404"));
  }
}
