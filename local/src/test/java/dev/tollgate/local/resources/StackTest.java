package dev.tollgate.local.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.SecurityTokens;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Template;
import dev.tollgate.local.template.TemplateException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StackTest {
  private static final String TRUST =
      "'AssumeRolePolicyDocument':{'Version':'2012-10-17','Statement':[]}";

  @TempDir private Path assembly;

  @Test
  void resources_are_created_before_those_that_refer_to_them() throws IOException {
    assertThat(
            create(
                """
                {'Resources':{
                  'A':{'Type':'AWS::Logs::LogGroup','Properties':{'LogGroupName':{'Fn::Sub':'a-${B}'}}},
                  'B':{'Type':'AWS::Logs::LogGroup','Properties':{
                    'LogGroupName':{'Fn::Join':['-',['b',{'Fn::GetAtt':['C','RoleId']}]]}}},
                  'C':{'Type':'AWS::IAM::Role','Properties':{'RoleName':'c',%s}}},
                 'Outputs':{'Name':{'Value':{'Ref':'A'}}}}"""
                    .formatted(TRUST)))
        .isEqualTo(Map.of("Name", "a-b-AROAc"));
  }

  @Test
  void resources_are_created_after_those_that_they_name_in_dependsOn() throws IOException {
    String template =
        """
        {'Resources':{
          'P':{'Type':'AWS::IAM::Policy','DependsOn':%s,'Properties':{
            'Roles':['r'],'PolicyDocument':{'Version':'2012-10-17','Statement':[]}}},
          'R':{'Type':'AWS::IAM::Role','Properties':{'RoleName':'r',%s}}}}""";

    List<Long> orders = LongStream.range(0, 10).boxed().toList();
    for (long order : orders) {
      assertThat(create(template.formatted("'R'", TRUST), order)).isEmpty();
      assertThat(create(template.formatted("['R']", TRUST), order)).isEmpty();
    }
    String missing = template.formatted("[]", TRUST);
    assertThat(orders).map(order -> comesUp(missing, order)).contains(true, false);
    assertThatThrownBy(() -> create(template.formatted("'Q'", TRUST)))
        .isInstanceOf(TemplateException.class)
        .hasMessage("Q: no resource has this logical id");
  }

  @Test
  void circle_isAnError() {
    assertThatThrownBy(
            () ->
                create(
                    """
                    {'Resources':{
                      'A':{'Type':'AWS::Logs::LogGroup','Properties':{'LogGroupName':{'Ref':'B'}}},
                      'B':{'Type':'AWS::Logs::LogGroup','DependsOn':'A'}}}"""))
        .isInstanceOf(TemplateException.class)
        .hasMessage("App: Circular dependency between resources: [A, B]");
  }

  @Test
  void ignored_properties_refer_to_resources_of_the_template() throws IOException {
    String template =
        """
        {'Parameters':{'P':{'Type':'List<String>'}},
         'Conditions':{'No':{'Fn::Equals':['a','b']}},
         'Resources':{
          'A':{'Type':'AWS::Logs::LogGroup','Properties':{'Tags':[{'Key':'t','Value':%s}]}},
          'B':{'Type':'AWS::Logs::LogGroup','Properties':{'LogGroupName':{'Ref':'A'}}}}}""";

    for (String allowed :
        List.of(
            "{'Ref':'P'}",
            "{'Fn::ImportValue':'C'}",
            "{'Fn::If':['No',{'Ref':'B'},'']}",
            "{'Fn::Sub':['${AWS::Region}${!B}${v}',{'v':1}]}")) {
      assertThat(create(template.formatted(allowed))).isEmpty();
    }
    for (String missing :
        List.of(
            "{'Ref':'C'}",
            "{'Fn::GetAtt':['C','Arn']}",
            "{'Fn::GetAtt':'C.Arn'}",
            "{'Fn::Sub':'${C.Arn}'}",
            "{'Fn::Join':['',['a',{'Fn::Sub':['${v}',{'v':{'Ref':'C'}}]}]]}")) {
      assertThatThrownBy(() -> create(template.formatted(missing)))
          .isInstanceOf(TemplateException.class)
          .hasMessage("C: no resource has this logical id");
    }
    assertThatThrownBy(() -> create(template.formatted("{'Fn::If':['No','',{'Ref':'B'}]}")))
        .isInstanceOf(TemplateException.class)
        .hasMessage("App: Circular dependency between resources: [A, B]");
  }

  @Test
  void unknown_properties_of_user_pools_and_clients_are_refused() {
    for (String type : List.of("UserPool", "UserPoolClient")) {
      assertThatThrownBy(
              () ->
                  create(
                      "{'Resources':{'A':{'Type':'AWS::Cognito::%s','Properties':{'MfaConfig':1}}}}"
                          .formatted(type)))
          .isInstanceOf(TemplateException.class)
          .hasMessage("A.Properties.MfaConfig: unknown property");
    }
  }

  private boolean comesUp(String text, long order) throws IOException {
    try {
      return create(text, order).isEmpty();
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("role/r");
      return false;
    }
  }

  private Map<String, String> create(String text) throws IOException {
    return create(text, 0);
  }

  private Map<String, String> create(String text, long order) throws IOException {
    Files.writeString(assembly.resolve("App.template.json"), text.replace('\'', '"'));
    AccessKeys keys = new AccessKeys();
    InstantSource clock = InstantSource.system();
    return new Stack(
            Template.read(assembly),
            Environment.of("App", clock),
            new ServiceClient(
                URI.create("http://127.0.0.1:1"), keys.issue(Principal.of("stack", "role"))),
            new Policies(true, resource -> Optional.empty()),
            new SecurityTokens(keys, clock))
        .create(order);
  }
}
