package dev.tollgate.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReleaseArchiveTest {
  private static final Instant TIME = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir private Path directory;
  private Path checkout;

  @BeforeEach
  void create() throws IOException {
    checkout = checkout("checkout");
  }

  @Test
  void files_are_sorted_in_one_directory_and_stale_assets_and_the_site_are_left_out()
      throws IOException {
    write(checkout.resolve("infra/target/cdk.out/asset.0.jar"), "stale");
    write(checkout.resolve("docs/site/package.json"), "{}");
    write(checkout.resolve("docs/.hidden"), "");

    assertThat(files(archive(checkout, "one")))
        .containsExactly(
            "tollgate-1/ARCHITECTURE.md",
            "tollgate-1/CHANGELOG.md",
            "tollgate-1/CONTRIBUTING.md",
            "tollgate-1/LICENSE",
            "tollgate-1/RATIONALE.md",
            "tollgate-1/README.md",
            "tollgate-1/SECURITY.md",
            "tollgate-1/cdk.json",
            "tollgate-1/docs/how-to/page.md",
            "tollgate-1/lib/cdk.classpath",
            "tollgate-1/lib/classpath",
            "tollgate-1/lib/dynamodb-local.jar",
            "tollgate-1/lib/functions/tollgate-console.jar",
            "tollgate-1/lib/functions/tollgate-control-plane.jar",
            "tollgate-1/lib/functions/tollgate-handlers.jar",
            "tollgate-1/lib/functions/tollgate-probe.jar",
            "tollgate-1/lib/functions/tollgate-token-producer.jar",
            "tollgate-1/lib/library.jar",
            "tollgate-1/lib/other.jar",
            "tollgate-1/lib/tollgate-cli.jar",
            "tollgate-1/lib/tollgate-infra.jar",
            "tollgate-1/lib/tollgate-local.jar",
            "tollgate-1/lib/tollgate-socket-client.jar",
            "tollgate-1/stack/Tollgate.assets.json",
            "tollgate-1/stack/Tollgate.metadata.json",
            "tollgate-1/stack/asset.1.jar",
            "tollgate-1/tollgate");
  }

  @Test
  void class_paths_keep_their_order() throws IOException {
    try (FileSystem archive = open(archive(checkout, "one"))) {
      assertThat(archive.getPath("tollgate-1/lib/classpath"))
          .hasContent(
              "lib/tollgate-cli.jar:lib/tollgate-local.jar:lib/tollgate-socket-client.jar:"
                  + "lib/dynamodb-local.jar:lib/other.jar:lib/library.jar\n");
      assertThat(archive.getPath("tollgate-1/lib/cdk.classpath"))
          .hasContent("lib/tollgate-infra.jar:lib/library.jar\n");
    }
  }

  @Test
  void only_the_launcher_is_executable() throws IOException {
    try (FileSystem archive = open(archive(checkout, "one"))) {
      assertThat(permissions(archive.getPath("tollgate-1/tollgate"))).isEqualTo("rwxr-xr-x");
      assertThat(permissions(archive.getPath("tollgate-1/README.md"))).isEqualTo("rw-r--r--");
    }
  }

  @Test
  void archives_of_equal_checkouts_have_the_same_bytes() throws IOException {
    Path other = checkout("other");
    Files.setLastModifiedTime(other.resolve("README.md"), FileTime.fromMillis(0));
    Files.setPosixFilePermissions(
        other.resolve("LICENSE"), PosixFilePermissions.fromString("rwx------"));

    assertThat(archive(checkout, "one")).hasSameBinaryContentAs(archive(other, "two"));
  }

  @Test
  void metadata_names_no_temporary_directory() throws IOException {
    try (FileSystem archive = open(archive(checkout, "one"))) {
      assertThat(archive.getPath("tollgate-1/stack/Tollgate.metadata.json"))
          .hasContent("[\"at api.js, jsii-kernel/node_modules/api.js:1:96\"]");
    }
  }

  @Test
  void two_jars_of_the_same_name_are_refused() throws IOException {
    Path twin = write(directory.resolve("twin/library.jar"), "twin");
    write(checkout.resolve("infra/target/classpath"), twin.toString());

    assertThatIllegalStateException()
        .isThrownBy(() -> archive(checkout, "one"))
        .withMessageContaining("Two jars have the same name: ")
        .withMessageContaining(twin.toString());
  }

  private Path checkout(String name) throws IOException {
    Path root = directory.resolve(name);
    for (String file :
        List.of(
            "ARCHITECTURE.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "LICENSE",
            "RATIONALE.md",
            "README.md",
            "SECURITY.md",
            "tollgate",
            "dist/src/cdk.json",
            "docs/how-to/page.md",
            "cli/target/tollgate-cli.jar",
            "cli/target/dynamodb-local.jar",
            "local/target/tollgate-local.jar",
            "clients/socket/target/tollgate-socket-client.jar",
            "infra/target/tollgate-infra.jar",
            "infra/target/cdk.out/asset.1.jar",
            "console/target/tollgate-console.jar",
            "control-plane/target/tollgate-control-plane.jar",
            "handlers/target/tollgate-handlers.jar",
            "probe/target/tollgate-probe.jar",
            "token-producer/target/tollgate-token-producer.jar")) {
      write(root.resolve(file), file);
    }
    write(root.resolve("infra/target/cdk.out/Tollgate.assets.json"), "{\"path\": \"asset.1.jar\"}");
    write(
        root.resolve("infra/target/cdk.out/Tollgate.metadata.json"),
        "[\"at api.js, .../tmp/jsii-kernel-" + name + "/node_modules/api.js:1:96\"]");
    Path library = write(directory.resolve("repository/library.jar"), "library");
    Path other = write(directory.resolve("repository/other.jar"), "other");
    write(root.resolve("cli/target/classpath"), other + File.pathSeparator + library);
    write(root.resolve("infra/target/classpath"), library.toString());
    return root;
  }

  private Path archive(Path checkout, String name) throws IOException {
    Path zip = directory.resolve(name + ".zip");
    ReleaseArchive.write(checkout, zip, "tollgate-1", TIME);
    return zip;
  }

  private static Path write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private static List<String> files(Path zip) throws IOException {
    try (ZipFile file = new ZipFile(zip.toFile())) {
      return file.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName).toList();
    }
  }

  private static FileSystem open(Path zip) throws IOException {
    return FileSystems.newFileSystem(zip, Map.of("enablePosixFileAttributes", "true"));
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
