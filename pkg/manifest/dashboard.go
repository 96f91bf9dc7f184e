package manifest

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan/monitoring"
)

// dashboardLabel is the label by which the sidecar of Grafana finds a dashboard.
const dashboardLabel = "grafana_dashboard"

// dashboards hold the dashboard. Grafana keeps the files of all ConfigMaps in one directory.
func dashboards(p *plan.Plan) []Object {
	d := p.Monitoring.Dashboard
	if d == nil {
		return nil
	}
	m := monitoringMeta(p, p.Operator.Name+"-dashboard")
	m.Labels[dashboardLabel] = "1"
	return []Object{&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: m,
		Data:       map[string]string{"argoperator-" + p.Operator.Name + ".json": grafana(d)},
	}}
}

// Grafana's dashboard, as far as argoperator sets it.
type (
	grafanaDashboard struct {
		Title         string         `json:"title"`
		Tags          []string       `json:"tags"`
		SchemaVersion int            `json:"schemaVersion"`
		Refresh       string         `json:"refresh"`
		Time          grafanaRange   `json:"time"`
		Templating    grafanaLists   `json:"templating"`
		Panels        []grafanaPanel `json:"panels"`
	}
	grafanaRange struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	grafanaLists struct {
		List []grafanaVariable `json:"list"`
	}
	grafanaVariable struct {
		Name  string `json:"name"`
		Label string `json:"label"`
		Type  string `json:"type"`
		Query string `json:"query"`
	}
	grafanaPanel struct {
		ID          int               `json:"id"`
		Type        string            `json:"type"`
		Title       string            `json:"title"`
		Description string            `json:"description,omitempty"`
		GridPos     grafanaPosition   `json:"gridPos"`
		Datasource  grafanaDatasource `json:"datasource"`
		Targets     []grafanaTarget   `json:"targets"`
		FieldConfig grafanaFields     `json:"fieldConfig"`
		Options     *grafanaOptions   `json:"options,omitempty"`
	}
	grafanaPosition struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	}
	grafanaDatasource struct {
		Type string `json:"type"`
		UID  string `json:"uid"`
	}
	grafanaTarget struct {
		RefID        string `json:"refId"`
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	}
	grafanaFields struct {
		Defaults  grafanaDefaults `json:"defaults"`
		Overrides []struct{}      `json:"overrides"`
	}
	grafanaDefaults struct {
		Unit       string             `json:"unit,omitempty"`
		Min        *int               `json:"min,omitempty"`
		NoValue    string             `json:"noValue,omitempty"`
		Thresholds *grafanaThresholds `json:"thresholds,omitempty"`
	}
	grafanaThresholds struct {
		Mode  string        `json:"mode"`
		Steps []grafanaStep `json:"steps"`
	}
	grafanaStep struct {
		Color string `json:"color"`
		Value *int   `json:"value"` // from which the color is shown; nil: any
	}
	grafanaOptions struct {
		ColorMode string `json:"colorMode"`
		TextMode  string `json:"textMode"`
	}
)

// grafanaSchema is the version of the dashboard's schema.
const grafanaSchema = 39

// The grid of Grafana is 24 wide. Two panels are beside each other.
const (
	panelWidth  = 12
	panelHeight = 8
)

func grafana(d *monitoring.Dashboard) string {
	out := grafanaDashboard{
		Title: d.Title, Tags: []string{"argoperator"}, SchemaVersion: grafanaSchema, Refresh: "30s",
		Time:       grafanaRange{From: "now-3h", To: "now"},
		Templating: grafanaLists{[]grafanaVariable{{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus"}}},
	}
	for i, p := range d.Panels {
		out.Panels = append(out.Panels, panel(i, p))
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("manifest: plain data does not encode: %v", err)) // unreachable
	}
	return string(text) + "\n"
}

func panel(i int, p monitoring.Panel) grafanaPanel {
	var legend []string
	for _, label := range p.Legend {
		legend = append(legend, "{{"+label+"}}")
	}
	out := grafanaPanel{
		ID: i + 1, Type: string(p.Kind), Title: p.Title, Description: p.Description,
		GridPos:     grafanaPosition{H: panelHeight, W: panelWidth, X: i % 2 * panelWidth, Y: i / 2 * panelHeight},
		Datasource:  grafanaDatasource{Type: "prometheus", UID: "$datasource"}, // no braces: Flux would replace it
		Targets:     []grafanaTarget{{RefID: "A", Expr: p.Expr, LegendFormat: strings.Join(legend, " ")}},
		FieldConfig: grafanaFields{Defaults: grafanaDefaults{Unit: p.Unit, NoValue: p.Empty}, Overrides: []struct{}{}},
	}
	switch p.Kind {
	case monitoring.TimeSeries:
		out.FieldConfig.Defaults.Min = new(int)
	case monitoring.Stat:
		one := 1
		out.FieldConfig.Defaults.Thresholds = &grafanaThresholds{
			Mode: "absolute", Steps: []grafanaStep{{Color: "green"}, {Color: "red", Value: &one}},
		}
		out.Options = &grafanaOptions{ColorMode: "background", TextMode: "name"}
	}
	return out
}
