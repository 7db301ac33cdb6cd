package dev.tollgate.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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

  /** As two clouds do that start at once. Without care, one of the four fails in most rounds. */
  @Test
  void file_that_several_create_at_once_is_created_once() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      for (int round = 0; round < 200; round++) {
        Path file = directory.resolve("log" + round);
        CyclicBarrier start = new CyclicBarrier(4);
        Callable<Path> create =
            () -> {
              start.await();
              PrivateFiles.create(file);
              return file;
            };
        for (Future<Path> created : threads.invokeAll(Collections.nCopies(4, create))) {
          assertThat(created.get()).exists();
        }
      }
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void existing_directory_and_its_files_keep_their_permissions() throws IOException {
    Path functions = Files.createDirectories(directory.resolve("functions"));
    Path script = Files.writeString(functions.resolve("deploy.sh"), "#!/bin/sh");
    open(functions, "rwxr-xr-x");
    open(script, "rwxr-xr-x");

    PrivateFiles.createDirectory(functions);

    assertThat(permissions(functions)).isEqualTo("rwxr-xr-x");
    assertThat(permissions(script)).isEqualTo("rwxr-xr-x");
  }

  private static void open(Path file, String permissions) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }
}
