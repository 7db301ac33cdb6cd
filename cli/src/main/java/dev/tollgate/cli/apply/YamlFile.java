package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BigIntegerNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A YAML 1.2 document that knows the line of each value. It uses YAML's JSON schema, so {@code no}
 * and {@code on} are strings; names are always strings.
 */
public final class YamlFile {
  /** Conversion recurses once for each level, so the depth must be limited. */
  private static final int MAX_DEPTH = 32;

  /** Long numbers take minutes to convert, and no setting needs so many characters. */
  private static final int MAX_SCALAR_LENGTH = 10_000;

  /** Limits memory: aliases of aliases multiply the values of a small file. */
  private static final int MAX_VALUES = 1_000_000;

  /** The most characters of a value's path, three times as many as the longest that exists. */
  private static final int MAX_PATH_LENGTH = 256;

  private final String name;
  private final FileErrors errors;
  private final Map<String, Integer> lines = new HashMap<>();
  private final Deque<Node> ancestors = new ArrayDeque<>();
  private final JsonNode document;
  private int values;

  private YamlFile(String name, String text) {
    this.name = name;
    this.errors = new FileErrors(name, "line");
    LoadSettings settings = LoadSettings.builder().setLabel(name).build();
    Optional<Node> root;
    try {
      checkBounds(new Parse(settings).parseString(text));
      root = new Compose(settings).composeString(text);
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
      throw Failure.usage(name + ": line " + line + " is not YAML: " + e.getProblem());
    } catch (ReaderException e) {
      long line = text.codePoints().limit(e.getPosition()).filter(c -> c == '\n').count() + 1;
      throw Failure.usage(
          "%s: line %d is not YAML: unsupported character U+%04X"
              .formatted(name, line, e.getCodePoint()));
    } catch (YamlEngineException e) {
      throw Failure.usage(name + " is not YAML: " + e.getMessage());
    }
    this.document = root.map(node -> json(node, "")).orElse(MissingNode.getInstance());
  }

  /**
   * Reads a file.
   *
   * @param shown the file's name in messages
   * @throws Failure if it cannot be read or is not YAML
   */
  public static YamlFile read(Path file, String shown) {
    try {
      return new YamlFile(shown, Files.readString(file));
    } catch (IOException e) {
      throw Failure.unreadable(shown, e);
    }
  }

  /** A document as YAML in block style. */
  public static String write(JsonNode document) {
    DumpSettings settings = DumpSettings.builder().setDefaultFlowStyle(FlowStyle.BLOCK).build();
    return new Dump(settings).dumpToString(Json.value(document));
  }

  String name() {
    return name;
  }

  /** The document as JSON; a missing node if the file is empty. */
  JsonNode document() {
    return document;
  }

  /** The errors found so far, such as a repeated name. */
  FileErrors errors() {
    return errors;
  }

  /**
   * The line of a value, or of the nearest parent that exists.
   *
   * @param path the value's dotted path
   */
  int line(String path) {
    for (String at = path; !at.isEmpty(); at = at.substring(0, Math.max(0, at.lastIndexOf('.')))) {
      Integer line = lines.get(at);
      if (line != null) {
        return line;
      }
    }
    return 1;
  }

  void addError(String path, String value, String expected) {
    errors.add(line(path), path, value, expected);
  }

  private void checkBounds(Iterable<Event> events) {
    int depth = 0;
    for (Event event : events) {
      if (event instanceof ScalarEvent scalar && scalar.getValue().length() > MAX_SCALAR_LENGTH) {
        throw Failure.usage(
            "%s: line %d: a value of %d characters (expected: at most %d)"
                .formatted(
                    name,
                    line(event.getStartMark()),
                    scalar.getValue().length(),
                    MAX_SCALAR_LENGTH));
      }
      if (event instanceof CollectionStartEvent) {
        depth++;
        checkDepth(depth, event.getStartMark());
      } else if (event instanceof CollectionEndEvent) {
        depth--;
      }
    }
  }

  private void checkDepth(int depth, Optional<Mark> mark) {
    if (depth > MAX_DEPTH) {
      throw Failure.usage(
          name
              + ": line "
              + line(mark)
              + ": nested too deeply (expected: at most "
              + MAX_DEPTH
              + ")");
    }
  }

  private JsonNode json(Node node, String path) {
    lines.putIfAbsent(path, line(node));
    checkDepth(ancestors.size(), node.getStartMark());
    values++;
    if (values > MAX_VALUES) {
      throw Failure.usage(
          name
              + ": line "
              + line(node)
              + ": too many values (expected: at most "
              + MAX_VALUES
              + ")");
    }
    if (ancestors.contains(node)) {
      errors.add(line(node), path, "an alias of its own parent", "a value");
      return MissingNode.getInstance();
    }
    ancestors.push(node);
    try {
      if (node instanceof MappingNode mapping) {
        return object(mapping, path);
      }
      if (node instanceof SequenceNode sequence) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        sequence.getValue().forEach(item -> array.add(json(item, path)));
        return array;
      }
      return scalar((ScalarNode) node, path);
    } finally {
      ancestors.pop();
    }
  }

  private ObjectNode object(MappingNode mapping, String path) {
    ObjectNode object = Json.object();
    for (NodeTuple entry : mapping.getValue()) {
      if (!(entry.getKeyNode() instanceof ScalarNode key)) {
        errors.add(line(entry.getKeyNode()), path, "a list or an object as a name", "a string");
        continue;
      }
      String child = path.isEmpty() ? key.getValue() : path + "." + key.getValue();
      if (object.has(key.getValue())) {
        errors.add(line(key), child, "repeated", "once; also on line " + line(child));
        continue;
      }
      if (child.length() > MAX_PATH_LENGTH) {
        throw Failure.usage(
            "%s: line %d: the names up to here have %d characters (expected: at most %d)"
                .formatted(name, line(key), child.length(), MAX_PATH_LENGTH));
      }
      lines.putIfAbsent(child, line(key));
      object.set(key.getValue(), json(entry.getValueNode(), child));
    }
    return object;
  }

  private JsonNode scalar(ScalarNode node, String path) {
    String text = node.getValue();
    Tag tag = node.getTag();
    if (tag.equals(Tag.STR)) {
      return TextNode.valueOf(text);
    }
    if (tag.equals(Tag.NULL)) {
      return JsonNodeFactory.instance.nullNode();
    }
    if (tag.equals(Tag.BOOL)) {
      return BooleanNode.valueOf(Boolean.parseBoolean(text));
    }
    try {
      if (tag.equals(Tag.INT)) {
        BigInteger number = new BigInteger(text);
        return number.bitLength() < Long.SIZE
            ? LongNode.valueOf(number.longValue())
            : BigIntegerNode.valueOf(number);
      }
      if (tag.equals(Tag.FLOAT)) {
        return DecimalNode.valueOf(new BigDecimal(text));
      }
    } catch (NumberFormatException e) {
      // YAML accepts .inf and .nan as numbers; JSON does not. !!int "x" is invalid in both.
    }
    errors.add(line(node), path, text, "a string, a number, true or false");
    return MissingNode.getInstance();
  }

  private static int line(Node node) {
    return line(node.getStartMark());
  }

  private static int line(Optional<Mark> mark) {
    return mark.map(Mark::getLine).orElse(0) + 1;
  }
}
