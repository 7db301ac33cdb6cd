package dev.tollgate.client.js;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The types in {@code tollgate.d.ts}, as the TypeScript compiler reads them. */
class TypesTest {
  private static final Path CODE = Path.of("target/types");
  private static final Pattern SNIPPET = Pattern.compile("```js\n(.*?)```", Pattern.DOTALL);

  /** Copies the code to where the compiler finds no types beside it, and so infers them. */
  @BeforeAll
  static void prepare() throws IOException {
    // Else Node takes the compiler for an ES module, as the module that this directory holds.
    Files.writeString(Path.of("target/typescript/package.json"), "{\"type\":\"commonjs\"}");
    Files.createDirectories(CODE);
    for (String file : List.of("tollgate.js", "session.js", "outbox.js", "error.js")) {
      Files.copy(Path.of(file), CODE.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static Node.Result compile(String... more) throws IOException, InterruptedException {
    String[] options = {
      "target/typescript/tsc.js",
      "--noEmit",
      "--strict",
      "--allowJs",
      "--skipLibCheck",
      "false",
      "--target",
      "es2022",
      "--module",
      "nodenext",
      "--lib",
      "es2022,dom,dom.iterable"
    };
    return Node.run(
        Map.of(), Stream.concat(Stream.of(options), Stream.of(more)).toArray(String[]::new));
  }

  @Test
  void types_fit_the_code_and_its_use() throws Exception {
    assertThat(compile("test/types.ts")).isEqualTo(new Node.Result(0, ""));
  }

  @Test
  void types_refuse_a_mistake() throws Exception {
    Path wrong =
        Files.writeString(
            Path.of("target/wrong.ts"),
            "import { connect } from 'tollgate-client';\nconnect({ tenant: 'acme' });\n");
    assertThat(compile(wrong.toString()).output()).contains("'tenant' does not exist");
  }

  @Test
  void snippets_of_the_readmes_compile() throws Exception {
    List<String> snippets = new ArrayList<>();
    for (String readme : List.of("README.md", "../../README.md")) {
      List<String> found =
          SNIPPET
              .matcher(Files.readString(Path.of(readme)))
              .results()
              .map(snippet -> snippet.group(1))
              .toList();
      assertThat(found).as(readme).isNotEmpty();
      assertThat(found.get(0))
          .as(readme)
          .startsWith("// Node 20 and 21: node --experimental-websocket");
      snippets.addAll(found);
    }
    for (int i = 0; i < snippets.size(); i++) {
      Path file = Files.writeString(Path.of("target/readme-" + i + ".mts"), snippets.get(i));
      assertThat(compile(file.toString())).as(snippets.get(i)).isEqualTo(new Node.Result(0, ""));
    }
  }
}
