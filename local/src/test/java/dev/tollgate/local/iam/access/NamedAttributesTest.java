package dev.tollgate.local.iam.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.json.Json;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NamedAttributesTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'Key':{'tenantId':{'S':'a'},'key':{'S':'b'}}} | key tenantId",
        "{'Item':{'tenantId':{'S':'a'},'level':{'N':'1'}}} | level tenantId",
        "{'AttributeUpdates':{'level':{}},'Expected':{'rate':{}}} | level rate",
        "{'AttributesToGet':['level']} | level",
        "{'UpdateExpression':'SET level = :n, rate=:r'} | level rate",
        "{'UpdateExpression':'set a = a + :n REMOVE b, c ADD d :e DELETE f :g'} | a b c d f",
        "{'UpdateExpression':'SET a = if_not_exists(b, :n)'} | a b",
        "{'UpdateExpression':'SET a = list_append ( b , :n)'} | a b",
        "{'UpdateExpression':'SET #a = :n','ExpressionAttributeNames':{'#a':'level'}} | level",
        "{'UpdateExpression':'SET #a.#b[3].c = :n','ExpressionAttributeNames':{'#a':'map','#b':'x'}}"
            + " | map",
        "{'ConditionExpression':'attribute_not_exists(a) OR (NOT b BETWEEN :x AND :y)'} | a b",
        "{'ConditionExpression':'size(a)<:n and b IN (:x, c) and begins_with(d,:p)'} | a b c d",
        "{'ProjectionExpression':'a,b.c,#d','ExpressionAttributeNames':{'#d':'e'}} | a b e",
        "{'FilterExpression':'contains(a, :x)'} | a",
        "{'KeyConditionExpression':'tenantId = :t AND #k = :k',"
            + "'ExpressionAttributeNames':{'#k':'key'}} | key tenantId",
      })
  void every_attribute_that_a_request_names_is_found(String request, String names) {
    assertThat(NamedAttributes.in(Json.readOrMissing(request.replace('\'', '"'))))
        .containsExactlyElementsOf(List.of(names.split(" ", -1)));
  }
}
