package dev.tollgate.console;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The function that serves the sample client, the operator page and the files they load. It reads
 * and compresses all files when it starts; a request only selects one by its path.
 */
public final class Pages
    implements RequestHandler<APIGatewayV2HTTPEvent, APIGatewayV2HTTPResponse> {
  /** The files of uPlot in its WebJar. */
  static final List<String> UPLOT = List.of("uPlot.iife.min.js", "uPlot.min.css");

  /** The files of lit-html in its WebJar, which import each other. */
  static final List<String> LIT =
      List.of(
          "directive-helpers.js",
          "directive.js",
          "directives/live.js",
          "directives/repeat.js",
          "lit-html.js");

  /** The files of the client for browsers. */
  static final List<String> CLIENT = List.of("error.js", "outbox.js", "session.js", "tollgate.js");

  /** The runbooks of the alarms, served below {@code docs/runbooks}. */
  static final List<String> RUNBOOKS =
      List.of(
          "admitted-without-token.md",
          "counts-drift.md",
          "credentials-failing.md",
          "dead-letters.md",
          "fills-dropped.md",
          "fills-late.md",
          "function-errors.md",
          "function-throttles.md",
          "functions-slow.md",
          "handshakes-slow.md",
          "handshakes-undecided.md",
          "messages-failing.md",
          "messages-waiting.md",
          "minute-work-stopped.md",
          "over-admitted.md",
          "quotas-near.md",
          "refusals.md",
          "services-failing.md",
          "streams-late.md",
          "sweep-behind.md",
          "tier-retreated.md");

  /** The largest file, in characters, that is sent without gzip. */
  private static final int MAX_PLAIN = 24 * 1024;

  /** The other files, by their paths without the slash. */
  static final List<String> FILES =
      List.of(
          "api.js",
          "audit-page.js",
          "audit.js",
          "batch.js",
          "bulk.js",
          "changes.js",
          "chart.js",
          "confirm.js",
          "console.css",
          "dom.js",
          "first-requests.js",
          "fleet.js",
          "health.js",
          "history-steps.js",
          "history.js",
          "icon.svg",
          "keys.js",
          "lab.js",
          "layout.js",
          "limits.js",
          "onboard.js",
          "operator.css",
          "operator.js",
          "overview.js",
          "plot.js",
          "preview.js",
          "range-chart.js",
          "refusal-texts.js",
          "router.js",
          "sample.css",
          "sample.js",
          "sessions.js",
          "sign-in.js",
          "sources.js",
          "spark.js",
          "store.js",
          "storm.js",
          "templates.js",
          "tenant-audit.js",
          "tenant-danger.js",
          "tenant-dead.js",
          "tenant-history.js",
          "tenant-limits.js",
          "tenant-line.js",
          "tenant-now.js",
          "tenant-sessions.js",
          "tenant.js",
          "tenants.js",
          "theme.js",
          "tier-copy.js",
          "tiers.js",
          "views.css",
          "words.js");

  private static final Pattern GZIP =
      Pattern.compile("\\s*gzip\\s*(?:;\\s*q=(?:1(?:\\.0*)?|0\\.0*[1-9]\\d*)\\s*)?");

  private static final Set<String> METHODS = Set.of("GET", "HEAD");

  private final Map<String, Page> pages = new LinkedHashMap<>();
  private final String notFound = Page.ofFile("not-found.html").plain().body();
  private final String contentPolicy;

  /** Creates the function in Lambda. */
  public Pages() {
    this(System.getenv(), InstantSource.system());
  }

  /**
   * Creates the function with an environment.
   *
   * @param clock unused; every function has this constructor
   * @throws IllegalArgumentException if a variable is missing or is not a URL
   */
  public Pages(Map<String, String> environment, InstantSource clock) {
    Settings settings = Settings.of(environment);
    pages.put("/", Page.ofFile("sample.html"));
    pages.put("/operator", Page.ofFile("operator.html"));
    Stream.of(FILES, CLIENT)
        .flatMap(List::stream)
        .forEach(name -> pages.put("/" + name, Page.ofSource(name)));
    Stream.of(LIT, UPLOT, RUNBOOKS.stream().map(name -> "docs/runbooks/" + name).toList())
        .flatMap(List::stream)
        .forEach(name -> pages.put("/" + name, Page.ofFile(name)));
    pages.put("/config.json", Page.of("application/json", settings.json()));
    contentPolicy = contentPolicy(settings);
  }

  @Override
  public APIGatewayV2HTTPResponse handleRequest(APIGatewayV2HTTPEvent event, Context context) {
    return answer(event);
  }

  APIGatewayV2HTTPResponse answer(APIGatewayV2HTTPEvent event) {
    Map<String, String> requestHeaders = event.getHeaders() == null ? Map.of() : event.getHeaders();
    String path = event.getRawPath();
    String method = event.getRequestContext().getHttp().getMethod();
    Page page = pages.get(path);
    Map<String, String> headers = securityHeaders(requestHeaders);
    if (page == null) {
      return missing(
          path, requestHeaders.getOrDefault("accept", "").contains("text/html"), headers);
    }
    if (!METHODS.contains(method)) {
      headers.put("allow", "GET, HEAD");
      return problem(405, "Method not allowed", method + " (expected: GET or HEAD)", headers);
    }
    boolean compressed = acceptsGzip(requestHeaders.getOrDefault("accept-encoding", ""));
    Page.Form form = compressed ? page.gzipped() : page.plain();
    headers.put("vary", "accept-encoding");
    if (!compressed && form.body().length() > MAX_PLAIN) {
      // Every browser accepts gzip, and transferred bytes cost money.
      return problem(
          406,
          "Not acceptable",
          "this file is only available with gzip (expected: accept-encoding: gzip)",
          headers);
    }
    headers.put("etag", form.etag());
    // Browsers revalidate each time, because the files of one deployment belong together.
    headers.put("cache-control", "no-cache");
    if (matches(requestHeaders.getOrDefault("if-none-match", ""), form.etag())) {
      return answer(304, headers, "");
    }
    headers.put("content-type", page.contentType());
    if (compressed) {
      headers.put("content-encoding", "gzip");
    }
    APIGatewayV2HTTPResponse answer =
        answer(200, headers, method.equals("HEAD") ? "" : form.body());
    answer.setIsBase64Encoded(form.isBase64());
    return answer;
  }

  /** Whether gzip is listed without a weight or with one above 0 (RFC 9110, 12.5.3). */
  private static boolean acceptsGzip(String codings) {
    return Arrays.stream(codings.toLowerCase(Locale.ROOT).split(","))
        .anyMatch(coding -> GZIP.matcher(coding).matches());
  }

  /** Whether any tag of the list matches, by weak comparison (RFC 9110, 13.1.2). */
  private static boolean matches(String condition, String etag) {
    return Arrays.stream(condition.split(","))
        .map(String::trim)
        .anyMatch(tag -> tag.equals("*") || tag.equals(etag) || tag.equals("W/" + etag));
  }

  private APIGatewayV2HTTPResponse missing(
      String path, boolean asHtml, Map<String, String> headers) {
    if (!asHtml) {
      return problem(404, "Not found", "no page has this path", headers);
    }
    headers.put("content-type", "text/html;charset=utf-8");
    headers.put("cache-control", "no-store");
    int depth = (int) path.chars().filter(c -> c == '/').count() - 1;
    return answer(
        404, headers, notFound.replace("{root}", "./" + "../".repeat(Math.max(depth, 0))));
  }

  private static APIGatewayV2HTTPResponse problem(
      int status, String title, String detail, Map<String, String> headers) {
    headers.put("content-type", "application/problem+json");
    headers.put("cache-control", "no-store");
    String type =
        switch (status) {
          case 404 -> "not-found";
          case 405 -> "method-not-allowed";
          case 406 -> "not-acceptable";
          default -> throw new IllegalArgumentException(status + " (expected: 404, 405 or 406)");
        };
    // No escaping: the only text from the client is the method, which API Gateway has checked.
    return answer(
        status,
        headers,
        "{\"type\":\"urn:tollgate:problem:%s\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}"
            .formatted(type, title, status, detail));
  }

  private static APIGatewayV2HTTPResponse answer(
      int status, Map<String, String> headers, String body) {
    return APIGatewayV2HTTPResponse.builder()
        .withStatusCode(status)
        .withHeaders(headers)
        .withBody(body)
        .build();
  }

  private Map<String, String> securityHeaders(Map<String, String> requestHeaders) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("content-security-policy", contentPolicy);
    headers.put("cross-origin-opener-policy", "same-origin");
    headers.put("cross-origin-resource-policy", "same-origin");
    headers.put(
        "permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
    headers.put("referrer-policy", "no-referrer");
    headers.put("x-content-type-options", "nosniff");
    // Browsers ignore the header without TLS (RFC 6797, 8.1), which a local cloud does not have.
    if (requestHeaders.getOrDefault("x-forwarded-proto", "").equals("https")) {
      headers.put("strict-transport-security", "max-age=31536000");
    }
    return headers;
  }

  private static String contentPolicy(Settings settings) {
    return String.join(
        "; ",
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self' " + settings.origins(),
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        // The one policy of lit-html, for its templates' constant parts.
        "trusted-types lit-html");
  }
}
