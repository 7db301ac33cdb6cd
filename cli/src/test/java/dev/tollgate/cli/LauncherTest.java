package dev.tollgate.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The functions of the launcher script, with stub tools on the path. */
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {
  private static final Path LAUNCHER = Path.of("..", "tollgate").toAbsolutePath().normalize();

  /** Hides flock, as on macOS, and shortens the wait between two attempts. */
  private static final String WITHOUT_FLOCK =
      "command() { [[ $2 != flock ]] && builtin command \"$@\"; }; sleep() { env sleep 0.05; };";

  private record Result(int exitCode, String output) {}

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({
    "17, 17, true",
    "17.0.15, 17, true",
    "25, 17, true",
    "11.0.2, 17, false",
    "3.8.7, 3.8, true",
    "3.10.1, 3.8, true",
    "3.6.3, 3.8, false",
    "4.0.0-rc-3, 3.8, true",
    "20.20.2, 20, true",
    "18.19.0, 20, false"
  })
  void at_least_compares_numbers_not_text(String have, String want, boolean expected) {
    assertThat(run("at_least '" + have + "' " + want).exitCode()).isEqualTo(expected ? 0 : 1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "openjdk version \"17.0.15\" 2025-04-15 | 17.0.15",
        "java version \"1.8.0_402\" | 8.0",
        "openjdk version \"25\" 2025-09-16 | 25",
        "openjdk version \"27-ea\" 2026-09-15 | 27",
        "javac 21.0.1 | 21.0.1",
        "v20.20.2 | 20.20.2",
        "3.9.9 (8e8579a9e76f7d015ee5ec7bfcdc97d260186937) | 3.9.9",
        "no number at all | ''"
      })
  void version_in_finds_the_version(String text, String expected) {
    assertThat(run("printf '%s' '" + text + "' | version_in").output()).isEqualTo(expected);
  }

  @Test
  void version_of_java_is_read_from_its_home() throws IOException {
    Path home = Files.createDirectories(directory.resolve("jdk/bin")).getParent();
    Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.4\"\n");
    Files.createSymbolicLink(
        tool("java", "echo it was started").resolveSibling("linked"), home.resolve("bin/java"));
    Files.move(directory.resolve("java"), home.resolve("bin/java"));

    assertThat(run("version_beside " + directory.resolve("linked")).output()).isEqualTo("21.0.4");
    assertThat(run("version_beside " + tool("java", "")).output()).isEmpty();
  }

  @Test
  void require_reports_the_needed_and_the_found_version_and_how_to_get_it() throws IOException {
    Path node = tool("node", "echo v18.19.0");

    Result result =
        run("PATH=" + directory + ":$PATH; require Node.js node 20 'Get it somewhere.'");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.output())
        .isEqualTo(
            "tollgate: Node.js 20 or newer is needed; found: 18.19.0 (%s).\n  Get it somewhere.\n"
                .formatted(node));
  }

  @Test
  void require_reports_a_missing_program() {
    assertThat(run("require Node.js no-such-tool 20 'Get it somewhere.'").output())
        .isEqualTo("tollgate: Node.js 20 or newer is needed; found: none.\n  Get it somewhere.\n");
  }

  @Test
  void require_reads_the_version_of_a_coloured_maven() throws IOException {
    tool("mvn", "printf '\\033[1mApache Maven 3.6.3\\033[m\\nMaven home: /usr/share/maven4\\n'");

    assertThat(run("PATH=" + directory + ":$PATH; require Maven mvn 3.8 'Get it.'").output())
        .contains("found: 3.6.3 (");
  }

  @ParameterizedTest
  @CsvSource({"up, 0077", "connect, 0000"})
  void files_of_a_run_are_readable_by_the_owner_only(String command, String mask)
      throws IOException {
    Path java = tool("java", "umask");
    Path launcher = installLauncher();

    Result result =
        run(
            ". %s; require_java() { :; }; up_to_date() { :; };".formatted(launcher)
                + " java_command() { printf '%s' "
                + java
                + "; }; umask 000; main "
                + command);

    assertThat(result.output()).isEqualTo(mask + "\n");
  }

  @Test
  void older_than_any_detects_new_and_removed_files() throws IOException {
    Path top = directory.resolve("src");
    Path sources = Files.createDirectories(top.resolve("deep"));
    Path source = Files.writeString(sources.resolve("A.java"), "");
    Path stamp = Files.writeString(directory.resolve("stamp"), "");
    age(top, 20);
    age(sources, 20);
    age(source, 20);
    age(stamp, 10);
    String command = "older_than_any " + stamp + " " + top;

    assertThat(run(command).exitCode()).isEqualTo(1);
    age(source, 0);
    assertThat(run(command).exitCode()).isZero();
    Files.delete(source);
    assertThat(run(command).exitCode()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", WITHOUT_FLOCK})
  void one_process_builds_and_another_waits_for_it(String setup) throws IOException {
    String script =
        "cd %s; stamp=stamp; %s up_to_date() { [[ -e built ]]; };".formatted(directory, setup)
            + " build() { echo building; read -r; touch built; }; (ensure_built); echo ready";
    Process first = start(script);
    Process second = null;
    try {
      BufferedReader firstOutput = first.inputReader();
      assertThat(firstOutput.readLine()).isEqualTo("building");
      second = start(script);
      BufferedReader secondOutput = second.inputReader();
      assertThat(secondOutput.readLine())
          .isEqualTo("Another terminal is building Tollgate; waiting for it ...");

      first.getOutputStream().write('\n');
      first.getOutputStream().close();

      assertThat(firstOutput.readLine()).isEqualTo("ready");
      assertThat(secondOutput.readLine()).isEqualTo("ready");
    } finally {
      first.destroy();
      if (second != null) {
        second.destroy();
      }
    }
  }

  @Test
  void lock_of_a_dead_process_is_removed() throws IOException {
    Path lock = Files.createDirectories(directory.resolve("target/tollgate.lock.d"));
    Files.writeString(lock.resolve("pid"), run("sh -c 'echo $$'").output());

    Result result =
        run(
            "cd %s; stamp=stamp; %s up_to_date() { false; };".formatted(directory, WITHOUT_FLOCK)
                + " build() { echo built; }; (ensure_built)");

    assertThat(result).isEqualTo(new Result(0, "built\n"));
    assertThat(lock).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "true, --help, started",
    "true, tenants list -h, started",
    "true, --version, started",
    "true, tenants list, started",
    "true, up, built",
    "false, --help, built"
  })
  void only_up_builds_if_jars_exist(boolean exist, String arguments, String expected)
      throws IOException {
    Path launcher = installLauncher();
    if (exist) {
      Files.writeString(directory.resolve("cli/target/tollgate-cli.jar"), "");
      Files.writeString(directory.resolve("cli/target/dynamodb-local.jar"), "");
      Files.writeString(
          Files.createDirectories(directory.resolve("local/target")).resolve("tollgate-local.jar"),
          "");
      Files.writeString(
          Files.createDirectories(directory.resolve("clients/socket/target"))
              .resolve("tollgate-socket-client.jar"),
          "");
    }

    Result result =
        run(
            ". %s; require_java() { :; }; up_to_date() { false; }; build() { echo built; exit 1; };"
                    .formatted(launcher)
                + " java_command() { printf '%s' "
                + tool("java", "echo started")
                + "; }; main "
                + arguments);

    assertThat(result.output().lines().toList()).endsWith(expected);
    assertThat(result.output().contains("The sources are newer than this build"))
        .isEqualTo(arguments.equals("tenants list"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"up --demo", "tenants list", "--help", "version"})
  void a_release_never_builds_and_needs_only_a_java_runtime(String arguments) throws IOException {
    Path release = Files.createDirectories(directory.resolve("release & more"));
    Files.copy(LAUNCHER, release.resolve("tollgate"));
    Files.writeString(
        Files.createDirectory(release.resolve("lib")).resolve("classpath"),
        "lib/b.jar:lib/a.jar\n");
    for (String forbidden : List.of("mvn", "node", "javac")) {
      tool(forbidden, "echo " + forbidden + " was started");
    }
    tool(
        "java",
        "[ \"$1\" != -version ] || echo 'openjdk version \"17.0.1\"'; for i; do echo \"$i\"; done");

    Result result =
        run(
            "export PATH=%s:$PATH; unset JAVA_HOME; '%s/tollgate' %s"
                .formatted(directory, release, arguments));

    assertThat(result.exitCode()).isZero();
    assertThat(result.output().lines())
        .contains("%1$s/lib/b.jar:%1$s/lib/a.jar".formatted(release))
        .noneMatch(line -> line.endsWith(" was started") || line.startsWith("Building"));
    assertThat(release.resolve("target")).doesNotExist();
  }

  @Test
  void directory_of_a_relative_path_is_found_despite_cdpath() throws IOException {
    Path launcher = installLauncher();
    Path twin = Files.createDirectories(directory.resolve("twins/" + directory.getFileName()));
    tool("java", "for i; do echo \"$i\"; done");

    Result result =
        run(
            "cd %s; . %s/tollgate; require_java() { :; }; ensure_built() { :; }; export PATH=%s:$PATH"
                    .formatted(directory.getParent(), directory.getFileName(), directory)
                + " CDPATH=%s; unset JAVA_HOME; main doctor".formatted(twin.getParent()));

    assertThat(result.output().lines()).contains("-Dtollgate.home=" + launcher.getParent());
  }

  @ParameterizedTest
  @CsvSource({"10, true", "-10, false"})
  void up_records_an_archive_of_its_classes_for_the_next_one_unless_a_build_comes_between(
      int classpathAge, boolean used) throws IOException {
    installLauncher();
    tool("java", "for i; do echo \"$i\"; done");
    Path archive =
        Files.createDirectories(directory.resolve("target")).resolve("tollgate-up-17.0.1.jsa");
    age(directory.resolve("cli/target/classpath"), 100);

    List<String> first = up();
    Path recorded = Path.of(archive + "." + first.get(0));
    assertThat(first).contains("-XX:ArchiveClassesAtExit=" + recorded);
    Files.writeString(recorded, "classes");
    age(Path.of(recorded + ".begun"), 0);
    age(directory.resolve("cli/target/classpath"), classpathAge);

    List<String> second = up();

    assertThat(second.contains("-XX:SharedArchiveFile=" + archive)).isEqualTo(used);
    assertThat(recorded).doesNotExist();
    if (used) {
      age(directory.resolve("cli/target/classpath"), -1_000_000_000);
      assertThat(up()).anyMatch(flag -> flag.startsWith("-XX:ArchiveClassesAtExit="));
    }
  }

  /** The id of the process and the arguments of the JVM of {@code tollgate up}. */
  private List<String> up() {
    Result result =
        run(
            ("cd %1$s; . ./tollgate; require_java() { java_version=17.0.1; }; ensure_built() { :; };"
                    + " export PATH=%1$s:$PATH; unset JAVA_HOME; echo $$; main up")
                .formatted(directory));
    return result.output().lines().toList();
  }

  private static void age(Path file, int seconds) throws IOException {
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L - 1000L * seconds));
  }

  private Path installLauncher() throws IOException {
    Path target = Files.createDirectories(directory.resolve("cli/target"));
    Files.writeString(target.resolve("classpath"), "built.jar");
    return Files.copy(LAUNCHER, directory.resolve("tollgate"));
  }

  private Path tool(String name, String script) throws IOException {
    Path tool = Files.writeString(directory.resolve(name), "#!/bin/sh\n" + script + "\n");
    assertThat(tool.toFile().setExecutable(true)).isTrue();
    return tool;
  }

  private static Process start(String script) throws IOException {
    return new ProcessBuilder("bash", "-c", ". " + LAUNCHER + "; " + script)
        .redirectErrorStream(true)
        .start();
  }

  private static Result run(String script) {
    try {
      Process process = start(script);
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
      return new Result(process.exitValue(), output);
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
