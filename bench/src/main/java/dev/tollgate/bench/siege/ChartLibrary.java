package dev.tollgate.bench.siege;

import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Watch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Page;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A hundred downloads of the chart library that the operator's page names. */
final class ChartLibrary implements Measurement {
  private static final int REQUESTS = 100;
  private static final Pattern SCRIPT = Pattern.compile("(?:src|href)=\"([^\"]*chart[^\"]*)\"");

  @Override
  public Duration patience() {
    return Duration.ofMinutes(2);
  }

  @Override
  public List<Row> measure(Deployment deployment, Watch watch) throws InterruptedException {
    URI page = deployment.output("OperatorPage");
    List<URI> scripts = new ArrayList<>();
    Matcher names = SCRIPT.matcher(Page.get(page, Map.of()).text());
    while (names.find()) {
      scripts.add(page.resolve(names.group(1)));
    }
    Page first =
        scripts.stream()
            .map(script -> Page.get(script, Map.of("Accept-Encoding", "gzip")))
            .reduce((one, other) -> one.bytes() >= other.bytes() ? one : other)
            .orElseThrow(
                () ->
                    new IllegalStateException("charts at " + page + ": none (expected: a script)"));
    Map<Integer, Integer> statuses = new TreeMap<>();
    long bytes = 0;
    for (int i = 0; i < REQUESTS; i++) {
      Page again = Page.get(first.address(), Map.of("Accept-Encoding", "gzip"));
      statuses.merge(again.status(), 1, Integer::sum);
      bytes += again.bytes();
    }
    return List.of(
        new Row(
            "the console's chart library, %d requests".formatted(REQUESTS),
            "209 KB, uncompressed, by a function; some $20 a million",
            "%,d bytes each; content-encoding: %s; cache-control: %s; statuses %s; %,d bytes in all"
                .formatted(
                    first.bytes(),
                    first.header("content-encoding"),
                    first.header("cache-control"),
                    statuses,
                    bytes),
            "compressed and cached, a low throttle of its own"));
  }
}
