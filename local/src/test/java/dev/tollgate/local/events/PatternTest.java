package dev.tollgate.local.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

final class PatternTest {
  private static boolean matches(String pattern, String event) throws IOException {
    return Pattern.parse(pattern.replace('\'', '"'))
        .matches(new ObjectMapper().readTree(event.replace('\'', '"')));
  }

  @Test
  void value_isMatched_exactly() throws IOException {
    assertThat(matches("{'a':['x','y']}", "{'a':'y'}")).isTrue();
    assertThat(matches("{'a':['x']}", "{'a':'X'}")).isFalse();
    assertThat(matches("{'a':['x']}", "{}")).isFalse();
    assertThat(matches("{'a':[1]}", "{'a':1.0}")).isTrue();
    assertThat(matches("{'a':[null]}", "{'a':null}")).isTrue();
    assertThat(matches("{'a':['x']}", "{'a':['y','x']}")).isTrue();
  }

  @Test
  void all_members_have_to_match_however_deep() throws IOException {
    String pattern = "{'eventName':['REMOVE'],'dynamodb':{'OldImage':{'tier':{'S':['gold']}}}}";

    assertThat(
            matches(
                pattern, "{'eventName':'REMOVE','dynamodb':{'OldImage':{'tier':{'S':'gold'}}}}"))
        .isTrue();
    assertThat(
            matches(
                pattern, "{'eventName':'MODIFY','dynamodb':{'OldImage':{'tier':{'S':'gold'}}}}"))
        .isFalse();
    assertThat(matches(pattern, "{'eventName':'REMOVE','dynamodb':{}}")).isFalse();
  }

  @Test
  void exists_isOf_leaves() throws IOException {
    assertThat(matches("{'a':[{'exists':true}]}", "{'a':['x']}")).isTrue();
    assertThat(matches("{'a':[{'exists':true}]}", "{'a':{'b':1}}")).isFalse();
    assertThat(matches("{'a':[{'exists':true}]}", "{}")).isFalse();
    assertThat(matches("{'a':[{'exists':false}]}", "{}")).isTrue();
    assertThat(matches("{'a':[{'exists':false}]}", "{'a':1}")).isFalse();
  }

  @Test
  void value_isCompared() throws IOException {
    assertThat(matches("{'a':[{'prefix':'us-'}]}", "{'a':'us-east-1'}")).isTrue();
    assertThat(matches("{'a':[{'prefix':'us-'}]}", "{'a':'eu-west-1'}")).isFalse();
    assertThat(matches("{'a':[{'suffix':'.fifo'}]}", "{'a':'q.fifo'}")).isTrue();
    assertThat(matches("{'a':[{'equals-ignore-case':'X'}]}", "{'a':'x'}")).isTrue();
    assertThat(matches("{'a':[{'anything-but':['x']}]}", "{'a':'y'}")).isTrue();
    assertThat(matches("{'a':[{'anything-but':['x']}]}", "{'a':'x'}")).isFalse();
    assertThat(matches("{'a':[{'anything-but':{'prefix':'x'}}]}", "{'a':'xy'}")).isFalse();
    assertThat(matches("{'a':[{'numeric':['>',0,'<=',5]}]}", "{'a':5}")).isTrue();
    assertThat(matches("{'a':[{'numeric':['>',0,'<=',5]}]}", "{'a':5.1}")).isFalse();
    assertThat(matches("{'$or':[{'a':['x']},{'b':['y']}]}", "{'b':'y'}")).isTrue();
    assertThat(matches("{'$or':[{'a':['x']},{'b':['y']}]}", "{'b':'x'}")).isFalse();
  }

  @Test
  void what_is_no_pattern_isRefused() {
    for (String text :
        new String[] {"{}", "[]", "{'a':'x'}", "{'a':[]}", "{'a':[{'like':1}]}", "x"}) {
      assertThatThrownBy(() -> Pattern.parse(text.replace('\'', '"')))
          .as(text)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("Invalid filter pattern definition.");
    }
  }
}
