package dev.tollgate.cli.prove.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.tollgate.cli.http.Json;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces what differs from one run or account to the next by placeholders such as {@code <time>},
 * so that two answers can be compared and published.
 */
final class Redaction {
  /** From here on, a number is a time in milliseconds. */
  private static final long FIRST_TIME = 1_000_000_000;

  /** Placeholders by the names of members, in lower case. */
  private static final Map<String, String> MEMBERS = new HashMap<>();

  static {
    members("<id>", "messageid requestid extendedrequestid receipthandle sequencenumber");
    members("<secret>", "authorization cookie x-amz-security-token");
    members("<id>", "sec-websocket-key x-amzn-trace-id x-amzn-requestid awstraceheader");
    members("<ip>", "sourceip x-forwarded-for");
    members("<port>", "x-forwarded-port");
    members("<scheme>", "x-forwarded-proto");
    members("<agent>", "user-agent useragent");
    members("<host>", "host domainname");
    members("<api>", "apiid");
    members("<connection>", "connectionid");
    members("<account>", "accountid");
    members("<principal>", "senderid");
    members("<time>", "requesttime requesttimeepoch connectedat");
    members("<time>", "senttimestamp approximatefirstreceivetimestamp");
    members("<digest>", "md5ofbody md5ofmessagebody md5ofmessageattributes");
    members("<number>", "integrationlatency approximatereceivecount");
  }

  /** Placeholders by patterns in texts, in the order in which they are replaced. */
  private static final Map<Pattern, String> TEXTS = new LinkedHashMap<>();

  static {
    text("arn:aws(?:-[a-z]+)?:([a-z0-9-]+):[a-z0-9-]*:(?:[0-9]{12})?:", "arn:<partition>:$1::");
    text("(arn:<partition>:sts::assumed-role/)[^\\s\"]+", "$1<role>");
    text("(arn:<partition>:iam::role/)[^\\s\"]+", "$1<role>");
    text("(arn:<partition>:(?:iam|sts)::(?:user|federated-user|group)/)[^\\s\"]+", "$1<name>");
    text("\\b(AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ANVA|APKA)[A-Z0-9]{12,28}\\b", "<key>");
    text("[A-Za-z0-9+/_-]{100,}={0,2}", "<token>");
    text("\\b[a-z0-9]{8,12}(?=\\.execute-api\\.)", "<api>");
    text("(arn:<partition>:sqs::)[\\w.-]+", "$1<queue>");
    text("(arn:<partition>:dynamodb::table/)[\\w.-]+", "$1<table>");
    text("(arn:<partition>:execute-api::)[^/]+", "$1<api>");
    text("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>");
    text("\\b[0-9a-f]{32}\\b", "<digest>");
    text("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "<time>");
    text("\\b[0-9]{1,3}(\\.[0-9]{1,3}){3}\\b", "<ip>");
    text("(?<![0-9])[0-9]{12}(?![0-9])", "<account>");
    text("\\b[a-z]{2}(-gov|-iso[a-z]?)?-[a-z]+-[0-9]\\b", "<region>");
  }

  private final Map<String, String> literals;

  /**
   * @param literals further texts with their placeholders, such as an id that the caller made
   */
  Redaction(Map<String, String> literals) {
    this.literals = Map.copyOf(literals);
  }

  private static void members(String placeholder, String names) {
    for (String name : names.split(" ", -1)) {
      MEMBERS.put(name, placeholder);
    }
  }

  private static void text(String pattern, String placeholder) {
    TEXTS.put(Pattern.compile(pattern), placeholder);
  }

  /** A copy of a document. */
  JsonNode of(JsonNode document) {
    if (document instanceof ObjectNode object) {
      ObjectNode copy = Json.object();
      object
          .properties()
          .forEach(member -> copy.set(member.getKey(), of(member.getKey(), member.getValue())));
      return copy;
    }
    if (document instanceof ArrayNode array) {
      ArrayNode copy = Json.object().arrayNode();
      array.forEach(element -> copy.add(of(element)));
      return copy;
    }
    if (document.isTextual()) {
      return TextNode.valueOf(of(document.asText()));
    }
    return document.isIntegralNumber() && document.asLong() >= FIRST_TIME
        ? TextNode.valueOf("<time>")
        : document;
  }

  private JsonNode of(String name, JsonNode value) {
    String placeholder = MEMBERS.get(name.toLowerCase(Locale.ROOT));
    if (placeholder == null || value.isObject()) {
      return of(value);
    }
    if (value instanceof ArrayNode array) {
      ArrayNode copy = array.arrayNode();
      array.forEach(element -> copy.add(of(name, element)));
      return copy;
    }
    // Whether there is a value is part of the answer.
    return value.isNull() || value.asText().isEmpty() ? value : TextNode.valueOf(placeholder);
  }

  /** A copy of a text, which may be JSON. */
  String of(String text) {
    String result = text;
    for (Map.Entry<String, String> literal : literals.entrySet()) {
      result = result.replace(literal.getKey(), literal.getValue());
    }
    for (Map.Entry<Pattern, String> pattern : TEXTS.entrySet()) {
      Matcher matcher = pattern.getKey().matcher(result);
      result = matcher.replaceAll(pattern.getValue());
    }
    return result;
  }
}
