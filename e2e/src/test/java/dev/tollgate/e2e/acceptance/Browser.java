package dev.tollgate.e2e.acceptance;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.NoSuchElementException;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.Select;
import org.openqa.selenium.support.ui.WebDriverWait;

/** Chromium, with a profile of its own. */
public final class Browser implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(75);

  /** A log line that is not an error of the page: Chromium logs each refused handshake. */
  private static final String REFUSED_HANDSHAKE =
      "Error during WebSocket handshake: Unexpected response code: 429";

  private final ChromeDriver driver;
  private final Path profile;

  private Browser(File chromium, File chromedriver) throws IOException {
    profile = Files.createTempDirectory("tollgate-browser");
    ChromeOptions options = new ChromeOptions();
    options.setBinary(chromium);
    options.addArguments(
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-software-rasterizer",
        "--disable-extensions",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--user-data-dir=" + profile);
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
    driver =
        new ChromeDriver(
            new ChromeDriverService.Builder().usingDriverExecutable(chromedriver).build(), options);
    size(1280, 900);
  }

  /**
   * Starts Chromium. Without an installed Chromium the test is aborted with a message that says
   * what to install; it fails instead if the environment has {@code TOLLGATE_BROWSER=required}.
   */
  public static Browser open() {
    Optional<File> chromium = onPath("chromium", "chromium-browser", "google-chrome");
    Optional<File> chromedriver = onPath("chromedriver");
    if (chromium.isEmpty() || chromedriver.isEmpty()) {
      String missing =
          "No Chromium on the PATH: `apt install chromium chromium-driver fonts-dejavu-core`";
      if ("required".equals(System.getenv("TOLLGATE_BROWSER"))) {
        throw new AssertionError(missing);
      }
      Assumptions.abort(missing);
    }
    try {
      return new Browser(chromium.orElseThrow(), chromedriver.orElseThrow());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Optional<File> onPath(String... names) {
    return Stream.of(names)
        .flatMap(
            name ->
                Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                    .map(directory -> new File(directory, name)))
        .filter(File::canExecute)
        .findFirst();
  }

  public Browser go(String url) {
    driver.get(url);
    return this;
  }

  public Browser size(int width, int height) {
    driver.manage().window().setSize(new Dimension(width, height));
    // Chromium's windows are at least 500 wide; a phone's screen is narrower.
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
    return this;
  }

  /** Sets the preferred color scheme of the system, {@code light} or {@code dark}. */
  public Browser scheme(String scheme) {
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    return this;
  }

  /** The value of an attribute; empty if the element does not have it. */
  public String attribute(String css, String name) {
    return Objects.requireNonNullElse(find(css).getAttribute(name), "");
  }

  /** Opens another window and returns its handle. */
  public String window(String url) {
    driver.switchTo().newWindow(WindowType.WINDOW).get(url);
    return driver.getWindowHandle();
  }

  public String window() {
    return driver.getWindowHandle();
  }

  public void switchTo(String window) {
    driver.switchTo().window(window);
  }

  public String url() {
    return Objects.requireNonNull(driver.getCurrentUrl());
  }

  public WebElement find(String css) {
    return driver.findElement(By.cssSelector(css));
  }

  public List<WebElement> all(String css) {
    return driver.findElements(By.cssSelector(css));
  }

  /**
   * Moves the pointer into an element, at its left edge if {@code share} is 0 and at its right edge
   * if it is 1.
   */
  public void point(String css, double share) {
    WebElement element = find(css);
    int width = element.getSize().getWidth() - 2;
    new Actions(driver)
        .scrollToElement(element)
        .moveToElement(element, (int) Math.round(width * (share - 0.5)), 0)
        .perform();
  }

  public String text(String css) {
    while (true) {
      try {
        return find(css).getText();
      } catch (StaleElementReferenceException renewed) {
        // The page replaced the element after it was found.
      }
    }
  }

  /** Clicks an element once it can be clicked; again, if the page replaces it meanwhile. */
  public void click(String css) {
    await(
        css + " can be clicked",
        () -> {
          WebElement element = find(css);
          boolean isReady = element.isDisplayed() && element.isEnabled();
          if (isReady) {
            driver.executeScript("arguments[0].scrollIntoView({block: 'center'})", element);
            element.click();
          }
          return isReady;
        });
  }

  public void type(String css, String text) {
    // Clearing sends no event that the page listens to, which may show its own value again before
    // the text arrives.
    find(css).sendKeys(Keys.chord(Keys.CONTROL, "a"), text.isEmpty() ? Keys.DELETE : text);
  }

  /** Presses keys, one after another, wherever the focus is. */
  public void press(CharSequence keys) {
    new Actions(driver).sendKeys(keys).perform();
  }

  /** Selects an option once it is there; again, if the page renews its options meanwhile. */
  public void select(String css, String value) {
    await(
        css + " offers " + value,
        () -> {
          boolean isOffered = !all(css + " option[value='" + value + "']").isEmpty();
          if (isOffered) {
            new Select(find(css)).selectByValue(value);
          }
          return isOffered;
        });
  }

  public @Nullable Object script(String javaScript, Object... arguments) {
    return driver.executeScript(javaScript, arguments);
  }

  /** Waits until an element has the expected text. */
  public void awaitText(String css, Predicate<String> expected) {
    await(css, () -> expected.test(text(css)), () -> text(css));
  }

  public void await(String what, Supplier<Boolean> condition) {
    await(what, condition, () -> "");
  }

  private void await(String what, Supplier<Boolean> condition, Supplier<String> seen) {
    new WebDriverWait(driver, TIMEOUT, Duration.ofMillis(100))
        .ignoring(StaleElementReferenceException.class)
        .ignoring(NoSuchElementException.class)
        .withMessage(
            () -> what + ": " + seen.get() + "; notices: " + text("#notices") + "; " + errors())
        .until(driver -> condition.get());
  }

  /** The errors in the browser's console since the last call. */
  public List<String> errors() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
        .map(LogEntry::getMessage)
        .filter(message -> !message.contains(REFUSED_HANDSHAKE))
        .toList();
  }

  /** The serious and critical findings of axe on the page in its current state. */
  @SuppressWarnings("unchecked")
  public List<String> accessibilityFindings() {
    driver.executeScript(axe());
    return (List<String>)
        Objects.requireNonNull(
            driver.executeAsyncScript(
                """
            const done = arguments[arguments.length - 1];
            axe.run().then(({violations}) => done(violations
                .filter(({impact}) => impact === 'serious' || impact === 'critical')
                .flatMap(({id, nodes}) => nodes.map(node => id + ': ' + node.target + ': ' + node.failureSummary))),
                failed => done(['axe: ' + failed]));
            """));
  }

  private static String axe() {
    String file = "META-INF/resources/webjars/axe-core/" + System.getProperty("axe.version");
    try (InputStream in =
        Browser.class.getClassLoader().getResourceAsStream(file + "/axe.min.js")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A screenshot of the page from its top to its end, but at most of this height. */
  public byte[] screenshot(int width, int highest) {
    Object height = Objects.requireNonNull(script("return document.documentElement.scrollHeight"));
    size(width, Math.min(highest, Math.max(((Number) height).intValue(), 600)));
    script("scrollTo(0, 0)");
    return driver.getScreenshotAs(OutputType.BYTES);
  }

  @Override
  public void close() {
    driver.quit();
    try (Stream<Path> files = Files.walk(profile)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
