package dev.tollgate.local.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TemplateTest {
  private static final Environment ENVIRONMENT = Environment.of("Tollgate", InstantSource.system());

  @TempDir private Path assembly;

  @Test
  void literals_are_left_as_they_are() throws IOException {
    assertThat(resolve("{'a':[1,true,'x'],'b':{'Ref':'Q','c':1}}"))
        .isEqualTo("{'a':[1,true,'x'],'b':{'Ref':'Q','c':1}}");
  }

  @Test
  void ref_of_resource_pseudoParameter_and_parameter() throws IOException {
    assertThat(
            resolve(
                "[{'Ref':'Queue'},{'Ref':'AWS::Region'},{'Ref':'AWS::AccountId'},{'Ref':'AWS::URLSuffix'},{'Ref':'Colour'}]"))
        .isEqualTo("['queue','us-east-1','000000000000','amazonaws.com','red']");
  }

  @Test
  void noValue_vanishes() throws IOException {
    assertThat(resolve("{'a':{'Ref':'AWS::NoValue'},'b':[{'Ref':'AWS::NoValue'},1]}"))
        .isEqualTo("{'b':[1]}");
  }

  @Test
  void getAtt_in_both_forms() throws IOException {
    assertThat(resolve("[{'Fn::GetAtt':['Queue','Arn']},{'Fn::GetAtt':'Queue.A.B'}]"))
        .isEqualTo("['Queue/Arn','Queue/A.B']");
  }

  @Test
  void join_select_split_nest() throws IOException {
    assertThat(
            resolve(
                "{'Fn::Join':['-',{'Fn::Split':['/',{'Fn::Join':['',['a/',{'Ref':'B'},'/c']]}]}]}"))
        .isEqualTo("'a-b-c'");
    assertThat(resolve("{'Fn::Select':[1,{'Fn::Split':[':','x:y:z']}]}")).isEqualTo("'y'");
  }

  @Test
  void sub_in_both_forms() throws IOException {
    assertThat(resolve("{'Fn::Sub':'${Queue}|${Queue.Arn}|${AWS::Region}|${!Literal}|${Colour}'}"))
        .isEqualTo("'queue|Queue/Arn|us-east-1|${Literal}|red'");
    assertThat(resolve("{'Fn::Sub':['${x}-${Queue}',{'x':{'Ref':'Other'}}]}"))
        .isEqualTo("'other-queue'");
  }

  @Test
  void host_name_of_an_api_becomes_its_local_endpoint() throws IOException {
    String stageUrl =
        "{'Fn::Join':['',['%s://',%s,'.execute-api.',{'Ref':'AWS::Region'},'.',{'Ref':'AWS::URLSuffix'},'/prod']]}";

    assertThat(resolve(stageUrl.formatted("wss", "{'Ref':'Chat'}")))
        .isEqualTo("'ws://localhost:1/chat/prod'");
    assertThat(resolve(stageUrl.formatted("https", "{'Ref':'Chat'}")))
        .isEqualTo("'http://localhost:1/chat/prod'");
    assertThat(resolve("{'Fn::Sub':'https://${Chat}.execute-api.${AWS::Region}.amazonaws.com/p'}"))
        .isEqualTo("'http://localhost:1/chat/p'");
    assertThat(resolve(stageUrl.formatted("wss", "'abc'")))
        .isEqualTo("'wss://abc.execute-api.us-east-1.amazonaws.com/prod'");
  }

  @Test
  void if_chooses_by_condition() throws IOException {
    assertThat(resolve("[{'Fn::If':['IsRed','r','other']},{'Fn::If':['IsBlue','b','other']}]"))
        .isEqualTo("['r','other']");
    assertThat(resolve("{'Fn::If':['Both','both','not both']}")).isEqualTo("'not both'");
    assertThat(resolve("{'Fn::If':['Either','either','neither']}")).isEqualTo("'either'");
  }

  @Test
  void unknown_intrinsic_isAnError_that_names_the_place() {
    assertThatThrownBy(() -> resolve("{'a':[{'b':{'Fn::Base64':'x'}}]}"))
        .isInstanceOf(TemplateException.class)
        .hasMessage("place.a[0].b.Fn::Base64: unknown intrinsic Fn::Base64");
    assertThatThrownBy(() -> resolve("{'Ref':'AWS::Moon'}"))
        .hasMessageContaining("unknown pseudo parameter AWS::Moon");
    assertThatThrownBy(() -> resolve("{'Fn::GetAtt':['Queue','Colour']}"))
        .hasMessage("place.Fn::GetAtt: Queue has no attribute Colour here");
  }

  @Test
  void parameter_without_a_plain_default_isAnError() {
    assertThatThrownBy(() -> resolve("{'Ref':'BootstrapVersion'}"))
        .hasMessageContaining("BootstrapVersion");
  }

  @Test
  void short_name_isWithout_stack_type_and_hash() throws IOException {
    Template template =
        template(
            "{'Resources':{'TollgateConnectFunction5344C7D3':{'Type':'AWS::Lambda::Function'}}}");

    assertThat(template.resources(resolver(template)).values())
        .extracting(resource -> resource.shortName("Tollgate"))
        .containsExactly("Connect");
  }

  @Test
  void resource_whose_condition_fails_is_not_there() throws IOException {
    Template template =
        template(
            """
            {'Conditions':{'No':{'Fn::Equals':['a','b']}},
             'Resources':{'A':{'Type':'T','Condition':'No'},'B':{'Type':'T'}}}""");

    assertThat(template.resources(resolver(template))).containsOnlyKeys("B");
  }

  @Test
  void property_that_nobody_read_isAnError() throws IOException {
    Template template =
        template(
            "{'Resources':{'A':{'Type':'T','Properties':{'Known':{'Inner':1,'New':2},'Tags':[]}}}}");
    Properties properties =
        template.resources(resolver(template)).values().iterator().next().properties();
    properties.ignore("Tags");
    assertThat(properties.object("Known").orElseThrow().integer("Inner")).hasValue(1);

    assertThatThrownBy(properties::refuseUnread)
        .hasMessage("A.Properties.Known.New: unknown property");
  }

  @Test
  void outputs_are_resolved() throws IOException {
    Template template =
        template(
            "{'Outputs':{'Url':{'Value':{'Fn::Sub':'${Api.Endpoint}/x'}}},'Resources':{'Api':{'Type':'T'}}}");

    assertThat(template.outputs(resolver(template))).isEqualTo(Map.of("Url", "Api/Endpoint/x"));
  }

  @Test
  void asset_isFound_by_its_object_key() throws IOException {
    Files.writeString(
        assembly.resolve("Tollgate.assets.json"),
        "{\"files\":{\"h\":{\"source\":{\"path\":\"asset.h.jar\"},\"destinations\":{\"d\":{\"objectKey\":\"h.jar\"}}}}}");
    Template template = template("{'Resources':{}}");

    template.addBucket("assets");

    assertThat(template.asset("assets", "h.jar")).contains(assembly.resolve("asset.h.jar"));
    assertThat(template.asset("assets", "other.jar")).isEmpty();
    assertThat(template.asset("other", "h.jar")).isEmpty();
  }

  @Test
  void unknown_section_isAnError() {
    assertThatThrownBy(() -> template("{'Transform':'AWS::Serverless-2016-10-31'}"))
        .hasMessageContaining("Transform: unknown section");
  }

  private String resolve(String value) throws IOException {
    Template template =
        template(
            """
            {'Parameters':{
               'Colour':{'Type':'String','Default':'red'},
               'BootstrapVersion':{'Type':'AWS::SSM::Parameter::Value<String>','Default':'/cdk/version'}},
             'Conditions':{
               'IsRed':{'Fn::Equals':[{'Ref':'Colour'},'red']},
               'IsBlue':{'Fn::Equals':[{'Ref':'Colour'},'blue']},
               'Both':{'Fn::And':[{'Condition':'IsRed'},{'Condition':'IsBlue'}]},
               'Either':{'Fn::Or':[{'Condition':'IsBlue'},{'Fn::Not':[{'Condition':'IsBlue'}]}]}},
             'Resources':{}}""");
    return resolver(template)
        .resolve(
            new com.fasterxml.jackson.databind.ObjectMapper().readTree(value.replace('\'', '"')),
            "place")
        .toString()
        .replace('"', '\'');
  }

  private Template template(String text) throws IOException {
    Files.writeString(assembly.resolve("Tollgate.template.json"), text.replace('\'', '"'));
    return Template.read(assembly);
  }

  private static Resolver resolver(Template template) {
    return template.resolver(
        ENVIRONMENT,
        id ->
            new CreatedResource(
                id.toLowerCase(Locale.ROOT),
                Map.of(
                    "Arn",
                    id + "/Arn",
                    "A.B",
                    id + "/A.B",
                    "Endpoint",
                    id + "/Endpoint",
                    "ApiEndpoint",
                    "ws://localhost:1/" + id.toLowerCase(Locale.ROOT))));
  }
}
