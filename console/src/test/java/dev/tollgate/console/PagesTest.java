package dev.tollgate.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PagesTest {
  private static final Map<String, String> ENVIRONMENT =
      Map.of(
          "SESSION_URL", "https://a.example.com/session",
          "TENANT_URL", "https://a.example.com/tenant",
          "WEBSOCKET_URL", "wss://b.example.com/production",
          "SESSION_ACCESS", "open",
          "DEPLOYMENT", "Tollgate-blue",
          "SIGN_IN_DOMAIN", "https://login.example.com",
          "SIGN_IN_CLIENT_ID", "abc");
  private static final Map<String, String> BROWSER =
      Map.of("accept-encoding", "gzip, deflate, br, zstd");
  private static final Pages PAGES = new Pages(ENVIRONMENT, InstantSource.system());

  @ParameterizedTest
  @CsvSource({
    "/, text/html;charset=utf-8, <h1",
    "/operator, text/html;charset=utf-8, <h1",
    "/console.css, text/css;charset=utf-8, :root",
    "/sample.js, text/javascript;charset=utf-8, import",
    "/icon.svg, image/svg+xml, <svg",
    "/config.json, application/json, sessionUrl"
  })
  void a_file_is_served_with_its_media_type(String path, String type, String part) {
    APIGatewayV2HTTPResponse answer = get(path, Map.of());
    assertThat(answer.getStatusCode()).isEqualTo(200);
    assertThat(answer.getHeaders()).containsEntry("content-type", type);
    assertThat(answer.getBody()).contains(part);
  }

  @Test
  void exactly_the_files_of_the_directory_are_served() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("pages"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(
              Stream.concat(
                      Pages.FILES.stream(),
                      Stream.of("sample.html", "operator.html", "not-found.html"))
                  .toList());
    }
  }

  /**
   * A view of the operator's page shows its first rows when these files are there. Over 400 ms and
   * 50 kB/s each 5 kB delay them by 0.1 s, and a file that only another file names by 0.4 s.
   */
  @ParameterizedTest
  @CsvSource({"overview, 22, 33200", "tenants, 21, 32500"})
  void few_bytes_come_before_the_first_rows_of(String view, int maxFiles, int maxBytes)
      throws IOException {
    String html = Files.readString(Path.of("pages/operator.html"));
    String head = html.substring(0, html.indexOf("<template"));
    Set<String> scripts = named("<script src=\"([^\"]+)\"", head);
    Set<String> modules = named("rel=\"modulepreload\" href=\"([^\"]+)\"", head);
    modules.addAll(named("<script src=\"(operator\\.js)\" type=\"module\"", head));
    String ofView =
        named(view + ": \\[([^]]+)\\]", unzipped(get("/first-requests.js", BROWSER)))
            .iterator()
            .next();
    modules.addAll(named("\"([^\"]+)\"", ofView));

    Set<String> imported = new TreeSet<>();
    imports("operator.js", imported);
    imports(view + ".js", imported);
    assertThat(modules).as("modules that are loaded at once").isEqualTo(imported);

    Set<String> files = new TreeSet<>(modules);
    files.addAll(scripts);
    files.addAll(named("rel=\"stylesheet\" href=\"([^\"]+)\"", head));
    int bytes =
        sent(get("/operator", BROWSER)).length
            + files.stream().mapToInt(file -> sent(get("/" + file, BROWSER)).length).sum();
    assertThat(files).hasSizeLessThanOrEqualTo(maxFiles);
    assertThat(bytes).as("bytes, compressed").isLessThanOrEqualTo(maxBytes);
  }

  /** Adds a module and those that it imports at once, directly or not. */
  private static void imports(String module, Set<String> found) throws IOException {
    if (found.add(module)) {
      for (String name :
          named("(?:from|import)\\s*\"([^\"]+\\.js)\"", unzipped(get("/" + module, BROWSER)))) {
        imports(
            URI.create(module).resolve(name).toString().replaceFirst("^(\\.\\.?/)+", ""), found);
      }
    }
  }

  private static Set<String> named(String pattern, String text) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/sources.js", "/operator.css", "/tollgate.js"})
  void scripts_and_styles_have_no_comments_and_all_their_lines(String file) throws IOException {
    Path source = Path.of("pages" + file);
    List<String> lines =
        Files.readAllLines(
            Files.exists(source) ? source : Path.of("../clients/js" + file),
            StandardCharsets.UTF_8);
    List<String> served = unzipped(get(file, BROWSER)).lines().toList();
    assertThat(served).hasSameSizeAs(lines).noneMatch(line -> line.matches("\\s*(//|/?\\*).*"));
    for (int i = 0; i < lines.size(); i++) {
      assertThat(served.get(i)).as("line %d", i + 1).isIn(lines.get(i), "");
      if (served.get(i).isEmpty()) {
        assertThat(lines.get(i)).matches("|\\s*(//|/?\\*).*|.*\\*/");
      }
    }
  }

  @Test
  void all_files_of_the_client_for_browsers_are_served() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("../clients/js"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(name -> name.endsWith(".js"))
          .containsExactlyInAnyOrderElementsOf(Pages.CLIENT)
          .allSatisfy(name -> assertThat(get("/" + name, BROWSER).getStatusCode()).isEqualTo(200));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sample.html", "operator.html", "not-found.html"})
  void a_page_contains_no_inline_style_or_script(String name) throws IOException {
    String html = Files.readString(Path.of("pages", name));
    assertThat(html).doesNotContain("<style", " style=", "javascript:").doesNotMatch(" on[a-z]+=");
    assertThat(Pattern.compile("<script(?![^>]* src=)").matcher(html).find()).isFalse();
  }

  /**
   * A file that a page names and the function does not have would cause an error in the browser.
   */
  @Test
  void every_file_that_a_page_loads_exists() throws IOException {
    Pattern reference =
        Pattern.compile(
            "(?:(?:src|href)=\"|from \"|import \"|import\\(\"|href: \")(?:\\./)?([A-Za-z./-]+\\.[a-z]+)\"");
    try (Stream<Path> files = Files.list(Path.of("pages"))) {
      for (Path file : files.toList()) {
        assertThat(reference.matcher(Files.readString(file)).results().map(found -> found.group(1)))
            .allSatisfy(
                name -> assertThat(get("/" + name, BROWSER).getStatusCode()).isEqualTo(200));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/sample.html",
        "/../pom.xml",
        "/%2e%2e/sample.js",
        "//etc/passwd",
        "/pages/",
        "/a"
      })
  void an_unknown_path_is_a_404(String path) {
    APIGatewayV2HTTPResponse answer = get(path, Map.of());
    assertThat(answer.getStatusCode()).isEqualTo(404);
    assertThat(answer.getHeaders())
        .containsEntry("content-type", "application/problem+json")
        .containsEntry("cache-control", "no-store");
    assertThat(json(answer).path("type").asText()).isEqualTo("urn:tollgate:problem:not-found");
  }

  @ParameterizedTest
  @CsvSource({"/a, ./", "/a/b, ./../", "/a/b/, ./../../"})
  void a_404_page_links_to_both_pages(String path, String root) {
    APIGatewayV2HTTPResponse answer = get(path, Map.of("accept", "text/html,*/*;q=0.8"));
    assertThat(answer.getStatusCode()).isEqualTo(404);
    assertThat(answer.getBody()).contains("href=\"" + root + "\"", "href=\"" + root + "operator\"");
  }

  @Test
  void a_page_accepts_only_get_and_head() {
    APIGatewayV2HTTPResponse answer = request("POST", "/operator", Map.of());
    assertThat(answer.getStatusCode()).isEqualTo(405);
    assertThat(answer.getHeaders()).containsEntry("allow", "GET, HEAD");
    assertThat(json(answer).path("status").asInt()).isEqualTo(405);
    assertThat(request("HEAD", "/operator", Map.of()).getStatusCode()).isEqualTo(200);
    assertThat(request("HEAD", "/operator", Map.of()).getBody()).isEmpty();
  }

  @Test
  void a_page_with_a_matching_etag_is_a_304() {
    String etag = get("/console.css", Map.of()).getHeaders().get("etag");
    for (String condition : List.of(etag, "W/" + etag, "\"other\", " + etag, "*")) {
      APIGatewayV2HTTPResponse answer = get("/console.css", Map.of("if-none-match", condition));
      assertThat(answer.getStatusCode()).isEqualTo(304);
      assertThat(answer.getBody()).isEmpty();
      assertThat(answer.getHeaders()).containsEntry("etag", etag);
    }
    assertThat(get("/console.css", Map.of("if-none-match", "\"other\"")).getStatusCode())
        .isEqualTo(200);
    assertThat(get("/sample.js", Map.of()).getHeaders().get("etag")).isNotEqualTo(etag);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.5", "gzip ; q=1"})
  void a_file_is_compressed_if_the_browser_accepts_gzip(String accepted) throws IOException {
    for (String file : Pages.FILES) {
      APIGatewayV2HTTPResponse plain = get("/" + file, Map.of());
      APIGatewayV2HTTPResponse answer = get("/" + file, Map.of("accept-encoding", accepted));
      assertThat(answer.getHeaders())
          .containsEntry("content-encoding", "gzip")
          .containsEntry("vary", "accept-encoding")
          .containsEntry("content-type", plain.getHeaders().get("content-type"));
      assertThat(sent(answer).length).as(file).isLessThan(100 + plain.getBody().length() * 2 / 3);
      assertThat(unzipped(answer)).isEqualTo(plain.getBody());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "identity", "br", "gzip;q=0", "gzip;q=0.000", "gzipped", "x gzip"})
  void a_file_is_not_compressed_unless_the_browser_accepts_gzip(String accepted) {
    APIGatewayV2HTTPResponse answer = get("/sample.js", Map.of("accept-encoding", accepted));
    assertThat(answer.getHeaders())
        .doesNotContainKey("content-encoding")
        .containsEntry("vary", "accept-encoding");
    assertThat(answer.getIsBase64Encoded()).isFalse();
    assertThat(answer.getBody()).contains("import ");
  }

  @Test
  void a_compressed_page_with_a_matching_etag_is_a_304() {
    String etag = get("/console.css", BROWSER).getHeaders().get("etag");
    assertThat(etag).isNotEqualTo(get("/console.css", Map.of()).getHeaders().get("etag"));
    APIGatewayV2HTTPResponse answer =
        get("/console.css", Map.of("accept-encoding", "gzip", "if-none-match", etag));
    assertThat(answer.getStatusCode()).isEqualTo(304);
    assertThat(answer.getBody()).isEmpty();
    assertThat(answer.getHeaders()).doesNotContainKey("content-encoding");
    // The two representations have different etags.
    assertThat(get("/console.css", Map.of("if-none-match", etag)).getStatusCode()).isEqualTo(200);
  }

  @Test
  void a_library_file_is_served_unchanged_from_its_jar() throws IOException {
    APIGatewayV2HTTPResponse script = get("/uPlot.iife.min.js", BROWSER);
    assertThat(script.getHeaders()).containsEntry("content-type", "text/javascript;charset=utf-8");
    assertThat(unzipped(script)).startsWith("/*! https://github.com/leeoniya/uPlot");
    APIGatewayV2HTTPResponse style = get("/uPlot.min.css", BROWSER);
    assertThat(style.getHeaders()).containsEntry("content-type", "text/css;charset=utf-8");
    assertThat(unzipped(style)).startsWith(".uplot");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "identity", "gzip;q=0"})
  void a_large_file_is_a_406_unless_the_browser_accepts_gzip(String accepted) {
    APIGatewayV2HTTPResponse answer =
        get("/uPlot.iife.min.js", Map.of("accept-encoding", accepted, "if-none-match", "*"));
    assertThat(answer.getStatusCode()).isEqualTo(406);
    assertThat(answer.getHeaders())
        .containsEntry("vary", "accept-encoding")
        .containsEntry("cache-control", "no-store")
        .doesNotContainKey("etag");
    assertThat(json(answer).path("type").asText()).isEqualTo("urn:tollgate:problem:not-acceptable");
  }

  /** Unauthenticated callers may request any file, compressed or not. */
  @Test
  void every_response_is_small() {
    assertThat(Stream.of(Pages.FILES, Pages.LIT, Pages.UPLOT).flatMap(List::stream))
        .allSatisfy(
            file -> {
              assertThat(sent(get("/" + file, BROWSER))).hasSizeLessThan(22 * 1024);
              assertThat(get("/" + file, Map.of()).getBody()).hasSizeLessThan(24 * 1024);
            });
  }

  @Test
  void every_response_has_security_headers() {
    List<APIGatewayV2HTTPResponse> answers =
        List.of(
            get("/", Map.of()),
            get("/config.json", Map.of()),
            get("/nothing", Map.of()),
            get("/nothing", Map.of("accept", "text/html")),
            request("DELETE", "/", Map.of()),
            get("/", Map.of("if-none-match", "*")));
    assertThat(answers)
        .allSatisfy(
            answer ->
                assertThat(answer.getHeaders())
                    .containsEntry("x-content-type-options", "nosniff")
                    .containsEntry("referrer-policy", "no-referrer")
                    .containsEntry("cross-origin-opener-policy", "same-origin")
                    .containsKeys(
                        "permissions-policy", "content-security-policy", "cache-control"));
  }

  @Test
  void the_content_security_policy_allows_only_known_origins() {
    Map<String, String> policy = policy(get("/", Map.of()));
    assertThat(policy)
        .containsEntry("default-src", "'none'")
        .containsEntry("script-src", "'self'")
        .containsEntry("style-src", "'self'")
        .containsEntry("frame-ancestors", "'none'")
        .containsEntry("base-uri", "'none'")
        .containsEntry("form-action", "'none'")
        .containsEntry("require-trusted-types-for", "'script'")
        .containsEntry("trusted-types", "lit-html")
        .containsEntry(
            "connect-src",
            "'self' https://a.example.com wss://b.example.com https://login.example.com");
  }

  @Test
  void strict_transport_security_is_sent_over_tls_only() {
    assertThat(get("/", Map.of()).getHeaders()).doesNotContainKey("strict-transport-security");
    assertThat(get("/", Map.of("x-forwarded-proto", "https")).getHeaders())
        .containsEntry("strict-transport-security", "max-age=31536000");
  }

  @Test
  void the_configuration_has_only_the_configured_addresses() {
    assertThat(get("/config.json", Map.of()).getBody())
        .isEqualTo(
            "{\"name\":\"Tollgate-blue\",\"release\":\""
                + version()
                + "\",\"sessionUrl\":\"https://a.example.com/session\","
                + "\"tenantUrl\":\"https://a.example.com/tenant\","
                + "\"webSocketUrl\":\"wss://b.example.com/production\","
                + "\"sessionAccess\":\"open\","
                + "\"signIn\":{\"domain\":\"https://login.example.com\",\"clientId\":\"abc\"}}");
    Map<String, String> lab = new HashMap<>(ENVIRONMENT);
    lab.put("LAB", "true");
    assertThat(
            json(request(new Pages(lab, InstantSource.system()), "GET", "/config.json", Map.of()))
                .path("lab")
                .asBoolean())
        .isTrue();
    Map<String, String> without = new HashMap<>(ENVIRONMENT);
    without.keySet().removeAll(List.of("TENANT_URL", "SIGN_IN_DOMAIN", "SIGN_IN_CLIENT_ID"));
    JsonNode config =
        json(request(new Pages(without, InstantSource.system()), "GET", "/config.json", Map.of()));
    assertThat(config.properties().stream().map(Map.Entry::getKey).collect(Collectors.toSet()))
        .isEqualTo(
            new TreeSet<>(
                List.of("name", "release", "sessionUrl", "webSocketUrl", "sessionAccess")));
  }

  @ParameterizedTest
  @CsvSource({
    "SESSION_URL, '', 'SESSION_URL: missing (expected: an environment variable)'",
    "WEBSOCKET_URL, here, 'WEBSOCKET_URL: here (expected: https://… or wss://…)'"
  })
  void an_invalid_environment_variable_is_refused(String name, String value, String message) {
    Map<String, String> environment = new HashMap<>(ENVIRONMENT);
    environment.put(name, value);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Pages(environment, InstantSource.system()))
        .withMessage(message);
  }

  private static String version() {
    try {
      Matcher version =
          Pattern.compile("<version>([^<]+)</version>")
              .matcher(Files.readString(Path.of("pom.xml")));
      assertThat(version.find()).isTrue();
      return version.group(1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void all_runbooks_are_served_as_text() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("../docs/runbooks"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(Pages.RUNBOOKS);
    }
    APIGatewayV2HTTPResponse answer = get("/docs/runbooks/refusals.md", BROWSER);
    assertThat(answer.getHeaders()).containsEntry("content-type", "text/plain;charset=utf-8");
    assertThat(unzipped(answer)).startsWith("# Alarm refusals");
  }

  private static Map<String, String> policy(APIGatewayV2HTTPResponse answer) {
    return Stream.of(answer.getHeaders().getOrDefault("content-security-policy", "").split("; "))
        .map(directive -> directive.split(" ", 2))
        .collect(Collectors.toMap(parts -> parts[0], parts -> parts[1]));
  }

  private static byte[] sent(APIGatewayV2HTTPResponse compressed) {
    assertThat(compressed.getIsBase64Encoded()).isTrue();
    return Base64.getDecoder().decode(compressed.getBody());
  }

  private static String unzipped(APIGatewayV2HTTPResponse compressed) throws IOException {
    try (GZIPInputStream text = new GZIPInputStream(new ByteArrayInputStream(sent(compressed)))) {
      return new String(text.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static JsonNode json(APIGatewayV2HTTPResponse answer) {
    try {
      return new ObjectMapper().readTree(answer.getBody());
    } catch (IOException e) {
      throw new AssertionError(answer.getBody(), e);
    }
  }

  private static APIGatewayV2HTTPResponse get(String path, Map<String, String> headers) {
    return request("GET", path, headers);
  }

  private static APIGatewayV2HTTPResponse request(
      String method, String path, Map<String, String> headers) {
    return request(PAGES, method, path, headers);
  }

  private static APIGatewayV2HTTPResponse request(
      Pages pages, String method, String path, Map<String, String> headers) {
    APIGatewayV2HTTPEvent.RequestContext.Http http =
        APIGatewayV2HTTPEvent.RequestContext.Http.builder().withMethod(method).build();
    APIGatewayV2HTTPEvent event =
        APIGatewayV2HTTPEvent.builder()
            .withRawPath(path)
            .withHeaders(headers)
            .withRequestContext(
                APIGatewayV2HTTPEvent.RequestContext.builder().withHttp(http).build())
            .build();
    return pages.answer(event);
  }
}
