package dev.tollgate.bench.layout;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The packages of a module have no cycles, and each package is small. */
class PackagesTest {
  /** The largest permitted number of top-level types in a package. */
  private static final long LARGEST_PACKAGE = 27;

  static List<Path> modules() throws IOException {
    try (Stream<Path> top = Files.list(Path.of(".."));
        Stream<Path> clients = Files.list(Path.of("../clients"))) {
      return Stream.concat(top, clients)
          .filter(module -> Files.isDirectory(module.resolve("src/main/java")))
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("modules")
  void packages_of_a_module_have_no_cycles(Path module) {
    slices().matching("dev.tollgate.(**)").should().beFreeOfCycles().check(classesOf(module));
  }

  @ParameterizedTest
  @MethodSource("modules")
  void packages_of_a_module_have_few_types(Path module) {
    Map<String, Long> typesByPackage =
        classesOf(module).stream()
            .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
            .collect(Collectors.groupingBy(type -> type.getPackageName(), Collectors.counting()));

    assertThat(typesByPackage)
        .isNotEmpty()
        .allSatisfy(
            (name, types) ->
                assertThat(types)
                    .as("types in package %s", name)
                    .isLessThanOrEqualTo(LARGEST_PACKAGE));
  }

  private static JavaClasses classesOf(Path module) {
    return new ClassFileImporter().importPath(module.resolve("target/classes"));
  }
}
