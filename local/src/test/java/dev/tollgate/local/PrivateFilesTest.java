package dev.tollgate.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a file system with POSIX permissions. */
class PrivateFilesTest {
  @TempDir private Path directory;

  @Test
  void file_and_its_new_directory_are_the_owners_alone() throws IOException {
    Path file = directory.resolve("new/outputs.json");

    PrivateFiles.write(file, List.of("{}"));

    assertThat(permissions(file)).isEqualTo("rw-------");
    assertThat(permissions(directory.resolve("new"))).isEqualTo("rwx------");
    assertThat(Files.readAllLines(file)).containsExactly("{}");
  }

  @Test
  void file_that_others_could_read_is_closed_and_its_directory_left_alone() throws IOException {
    Path file = Files.writeString(directory.resolve("outputs.json"), "old");
    open(file, "rw-rw-r--");
    open(directory, "rwxr-xr-x");

    PrivateFiles.write(file, List.of("new"));

    assertThat(permissions(file)).isEqualTo("rw-------");
    assertThat(permissions(directory)).isEqualTo("rwxr-xr-x");
    assertThat(Files.readAllLines(file)).containsExactly("new");
  }

  @Test
  void directory_is_closed_with_all_that_is_in_it() throws IOException {
    Path kept = directory.resolve("kept");
    Path file = Files.createDirectories(kept.resolve("deep")).resolve("rows.db");
    Files.writeString(file, "rows");
    Path outside = Files.writeString(directory.resolve("outside"), "");
    Files.createSymbolicLink(kept.resolve("link"), outside);
    open(kept, "rwxr-xr-x");
    open(file, "rw-r--r--");
    open(outside, "rw-r--r--");

    PrivateFiles.createDirectory(kept);

    assertThat(permissions(kept)).isEqualTo("rwx------");
    assertThat(permissions(kept.resolve("deep"))).isEqualTo("rwx------");
    assertThat(permissions(file)).isEqualTo("rw-------");
    assertThat(permissions(outside)).isEqualTo("rw-r--r--");
  }

  private static void open(Path file, String permissions) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }
}
