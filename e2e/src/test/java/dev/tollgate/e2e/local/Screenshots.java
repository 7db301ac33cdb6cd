package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Browser;
import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.IndexColorModel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

/**
 * Takes the screenshots of the documentation: both pages with data, wide and narrow, light and
 * dark. It is not a test and runs only by its name. {@code -Dscreenshots=} names the target
 * directory in the repository.
 */
final class Screenshots {
  /** The square of the smallest distance between two colors of the palette. */
  private static final int MIN_DISTANCE = 120;

  private final LocalDeployment deployment = LocalDeployment.shared();
  private final Path directory =
      Path.of("..").resolve(System.getProperty("screenshots", "target/screenshots"));

  @Test
  void pages_in_both_color_schemes_and_widths() throws Exception {
    Files.createDirectories(directory);
    onboard("acme", "silver", "{\"tenantPerMinute\":40}");
    onboard("globex", "gold", "{}");
    onboard("hooli", "silver", "{}");
    onboard("initech", "bronze", "{}");
    onboard("umbrella", "silver", "{}");
    onboard("wayne", "gold", "{}");
    onboard(
        "northwind",
        "bronze",
        "{\"tenantPerMinute\":5,\"sessionPerMinute\":20,\"connectionsPerSession\":9}");
    assertThat(
            deployment.control("PATCH", "/tenants/umbrella", "{\"status\":\"SUSPENDED\"}").status())
        .isEqualTo(200);
    // Long enough for unused tenants to hibernate.
    deployment.advance(Duration.ofMinutes(18));
    try (Browser browser = Browser.open()) {
      for (String scheme : List.of("light", "dark")) {
        takeOperator(browser.size(1280, 900).scheme(scheme), scheme);
        takeSample(browser.size(1280, 900).scheme(scheme), scheme);
        deployment.advance(Duration.ofMinutes(3));
      }
    }
  }

  private void onboard(String tenant, String tier, String overrides) {
    assertThat(deployment.onboard(tenant, tier, overrides).status()).isEqualTo(201);
  }

  private void takeOperator(Browser browser, String scheme) throws Exception {
    browser.go("about:blank");
    String page = deployment.cloud().outputs().getOrDefault("OperatorPage", "");
    browser.go(page + "#/lab?tenant=acme&neighbour=globex");
    browser.awaitText("#view h1", "Lab"::equals);
    browser.type("#attempts", "300");
    browser.click("#storm");
    // The page shows refusals every five seconds, by the clock of the deployment.
    for (int refused : new int[] {20, 60, 100, 130, 150}) {
      browser.awaitText("#storm-refused", text -> Integer.parseInt(text) > refused);
      deployment.advance(Duration.ofSeconds(5));
    }
    // The history has a minute when it is over.
    deployment.advance(Duration.ofSeconds(61));
    for (String view : List.of("overview", "tenants", "tenants/acme/now")) {
      browser.go(page + "#/" + view);
      browser.awaitText("main", text -> text.contains("acme"));
      if (view.equals("overview")) {
        browser.await(
            "the totals have the storm",
            () -> browser.text(".tiles").matches("(?s)Refused\\s+[1-9].*"));
        browser.await("charts are shown", () -> browser.all(".chart canvas").size() == 2);
      }
      // A request in progress fails when the clock moves.
      browser.script("document.querySelectorAll('#notices .close').forEach((one) => one.click())");
      String name =
          switch (view) {
            case "overview" -> "operator";
            case "tenants" -> "tenants";
            default -> "tenant";
          };
      take(browser, name, scheme, 1280);
      take(browser, name, scheme, 390);
    }
    browser.size(1280, 900).go(page + "#/lab");
    browser.awaitText("#storm-sentence", text -> text.contains("has ended"));
  }

  private void takeSample(Browser browser, String scheme) throws IOException {
    browser.go(deployment.cloud().outputs().getOrDefault("SampleClient", ""));
    browser.await("the list of tenants is loaded", () -> browser.find("#create").isEnabled());
    browser.select("#tenant", "northwind");
    browser.click("#create");
    browser.awaitText("#session-status", text -> text.endsWith("is open."));
    browser.type("#sockets", "2");
    browser.click("#connect");
    browser.awaitText("#connect-status", "2 of 2 sockets open."::equals);
    browser.click("#pooled");
    browser.awaitText("#log", text -> text.contains("Reply"));
    browser.type("#sockets", "7");
    browser.click("#connect");
    browser.awaitText("#verdict-text", text -> text.contains("Next attempt in"));
    take(browser, "sample", scheme, 1280);
    take(browser, "sample", scheme, 390);
    browser.size(1280, 900);
    browser.click("#delete");
  }

  private void take(Browser browser, String page, String scheme, int width) throws IOException {
    String name = "%s-%s-%s.png".formatted(page, scheme, width > 500 ? "wide" : "narrow");
    browser.size(width, 900);
    browser.await(
        "a heading is shown", () -> browser.all("h1").stream().anyMatch(h1 -> h1.isDisplayed()));
    BufferedImage picture = ImageIO.read(new ByteArrayInputStream(browser.screenshot(width, 2600)));
    ImageIO.write(withPalette(picture), "png", directory.resolve(name).toFile());
  }

  /** The image in at most 256 colors, at half the size. */
  private static BufferedImage withPalette(BufferedImage picture) {
    int width = picture.getWidth();
    int height = picture.getHeight();
    int[] pixels = picture.getRGB(0, 0, width, height, null, 0, width);
    Map<Integer, Integer> frequency = new HashMap<>();
    for (int pixel : pixels) {
      frequency.merge(pixel, 1, Integer::sum);
    }
    int[] palette = palette(frequency);
    IndexColorModel colors =
        new IndexColorModel(8, palette.length, palette, 0, false, -1, DataBuffer.TYPE_BYTE);
    BufferedImage indexed =
        new BufferedImage(width, height, BufferedImage.TYPE_BYTE_INDEXED, colors);
    Map<Integer, Integer> nearest = new HashMap<>();
    for (int i = 0; i < pixels.length; i++) {
      int index = nearest.computeIfAbsent(pixels[i], pixel -> nearest(pixel, palette));
      indexed.getRaster().setSample(i % width, i / width, 0, index);
    }
    return indexed;
  }

  /** The most frequent colors, without those too similar to a color already chosen. */
  private static int[] palette(Map<Integer, Integer> frequency) {
    List<Integer> palette = new ArrayList<>();
    frequency.entrySet().stream()
        .sorted(Map.Entry.<Integer, Integer>comparingByValue().reversed())
        .map(Map.Entry::getKey)
        .forEach(
            color -> {
              boolean isDistinct =
                  palette.stream().allMatch(other -> distance(color, other) > MIN_DISTANCE);
              if (isDistinct && palette.size() < 256) {
                palette.add(color);
              }
            });
    return palette.stream().mapToInt(Integer::intValue).toArray();
  }

  private static int nearest(int pixel, int[] palette) {
    int best = 0;
    for (int i = 1; i < palette.length; i++) {
      if (distance(pixel, palette[i]) < distance(pixel, palette[best])) {
        best = i;
      }
    }
    return best;
  }

  private static int distance(int one, int other) {
    int red = (one >> 16 & 255) - (other >> 16 & 255);
    int green = (one >> 8 & 255) - (other >> 8 & 255);
    int blue = (one & 255) - (other & 255);
    return red * red + green * green + blue * blue;
  }
}
